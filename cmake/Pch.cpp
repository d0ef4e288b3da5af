// Exists so that CMake has a file to precompile Pch.h for.
