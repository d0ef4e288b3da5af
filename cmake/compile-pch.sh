#!/bin/sh
# compile-pch.sh ROOT COMMAND...: compiles the precompiled header, as its target's launcher.
#
# Not through ccache: a precompiled header names the files of the clone that it was made in, and in another clone it is
# an error as soon as that one is gone. Instead a sum of what went into it is written beside it, which ccache takes in
# place of the header itself (CCACHE_PCH_EXTSUM): so the objects of one clone are found by another.
root=$1
shift
header= dependencies= previous=
for word; do
  case $word in *.pch) header=$word ;; esac
  [ "$previous" = -MF ] && dependencies=$word
  previous=$word
done
[ -z "$header" ] || rm -f "$header.sum"
"$@" || exit
[ -n "$header" ] && [ -r "$dependencies" ] || exit 0
# Without a sum, as where a path has a space, ccache reads the header.
sum=$(
  {
    printf '%s\n' "$@" | sed "s|$root|.|g"
    tr -s ' \\' '\n\n' <"$dependencies" | grep '^/' | grep -v "^$root/build" |
      sed "s|^$root/|./|" | sort -u | (cd "$root" && xargs cat) || echo $$
  } | sha256sum
)
printf '%s\n' "$sum" >"$header.sum"
