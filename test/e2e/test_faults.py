# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel that ends the process is named with its line; forks find whole kernels."""

import re
import textwrap

import pytest
from programs import run_program

pytestmark = pytest.mark.compiled("the interpreter runs no compiled code")

HEAD = """
import faulthandler, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
import torch, triton
import triton.language as tl

@triton.jit
def inner_kernel(x, y, far, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    tl.store(y + far + at, tl.exp(value))  # leaves the tensor

x, y = torch.randn(64), torch.zeros(64)
inner_kernel[(1,)](x, y, 0, 64)
print("ready", flush=True)
"""


def run(tmp_path, body, head=HEAD, **environment):
    done = run_program(tmp_path, head + textwrap.dedent(body), **environment)
    return done, tmp_path / "program.py"


def test_the_line_is_named(tmp_path):
    done, script = run(tmp_path, "inner_kernel[(1,)](x, y, 2**44, 64)")
    assert done.returncode < 0, done.stderr
    found = re.search(
        r"kernel 'inner_kernel' ends the process \(SIG(SEGV|BUS)\) at (\S*):(\d+):\d+: it reads",
        done.stderr,
    )
    assert found, done.stderr
    assert found[2].endswith(script.name)
    assert "leaves the tensor" in script.read_text().splitlines()[int(found[3]) - 1]
    assert "TILEBRIDGE_CHECK=1" in done.stderr


def test_it_can_be_turned_off(tmp_path):
    done, _ = run(tmp_path, "inner_kernel[(1,)](x, y, 2**44, 64)", TILEBRIDGE_REPORT_FAULTS="0")
    assert done.returncode < 0
    assert "tilebridge" not in done.stderr


@pytest.mark.parametrize("before", [True, False])
def test_other_handlers_run_as_well(tmp_path, before):
    """Python's faulthandler, installed before our handler or after it."""
    body = "inner_kernel[(1,)](x, y, 2**44, 64)"
    if before:
        done, _ = run(tmp_path, body, PYTHONFAULTHANDLER="1")
    else:
        done, _ = run(tmp_path, "faulthandler.enable()\n" + body)
    assert done.returncode < 0
    assert "Segmentation fault" in done.stderr
    assert "program.py" in done.stderr
    assert "kernel 'inner_kernel' ends the process" in done.stderr


def test_faults_elsewhere_are_not_ours(tmp_path):
    done, _ = run(tmp_path, "import ctypes; ctypes.string_at(8)")
    assert done.returncode < 0
    assert "tilebridge" not in done.stderr


def test_a_signal_that_is_sent_ends_the_process(tmp_path):
    done, _ = run(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)\nimport time; time.sleep(60)")
    assert done.returncode == -11
    assert "tilebridge" not in done.stderr


# Forks. One that hangs, in the parent or in a child, says where, and ends.
WATCHED = """
faulthandler.register(signal.SIGALRM, chain=True)
signal.alarm(200)
os.register_at_fork(after_in_child=lambda: signal.alarm(120))
"""


def test_a_forked_child_launches(tmp_path):
    """After fork: kernels that the parent loaded, and new ones; the parent goes on, too."""
    done, _ = run(
        tmp_path,
        """
        @triton.jit
        def double(x, N: tl.constexpr):
            at = tl.arange(0, N)
            tl.store(x + at, tl.load(x + at) * 2)

        for child in range(3):
            pid = os.fork()
            if pid == 0:
                z = torch.zeros(64)
                inner_kernel[(1,)](x, z, 0, 64)
                ok = torch.allclose(z, x.exp())
                w = torch.arange(16 << child).float()
                double[(1,)](w, 16 << child)
                ok = ok and torch.equal(w, torch.arange(16 << child) * 2.0)
                os._exit(0 if ok else 9)
            assert os.waitpid(pid, 0)[1] == 0
        w = torch.ones(128)
        double[(1,)](w, 128)
        assert w.sum() == 256
        print("done")
        """,
        head=HEAD + WATCHED,
    )
    assert done.returncode == 0, done.stderr
    assert "done" in done.stdout


def test_a_fork_while_others_compile(tmp_path):
    done, _ = run(
        tmp_path,
        """
        import threading

        @triton.jit
        def add(x, K: tl.constexpr, N: tl.constexpr):
            at = tl.arange(0, N)
            tl.store(x + at, tl.load(x + at) + K)

        def compile_all(first):
            for k in range(first, first + 6):
                w = torch.zeros(32)
                add[(1,)](w, k, 32)
                assert w[0] == k

        # PyTorch's own first calls may hold locks, too, and then no child can go on.
        assert torch.allclose(y, x.exp()) and y[0] == y[0]
        threads = [threading.Thread(target=compile_all, args=(10 * i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        children = []
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                z = torch.zeros(64)
                inner_kernel[(1,)](x, z, 0, 64)
                os._exit(0 if torch.allclose(z, x.exp()) else 9)
            children.append(pid)
        for thread in threads:
            thread.join()
        assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
        print("done")
        """,
        head=HEAD + WATCHED,
    )
    assert done.returncode == 0, done.stderr
    assert "done" in done.stdout


def test_a_forked_child_compiles_while_others_do(tmp_path):
    """The child has only the thread that forked: no lock of the compiler may be held at that moment."""
    done, _ = run(
        tmp_path,
        """
        import threading, tilebridge

        def compile_number(k):
            text = "tt.func public @k(%x: !tt.ptr<i32>) { %c = arith.constant NUMBER : i32\\n"
            text += " tt.store %x, %c : !tt.ptr<i32>\\n tt.return }"
            return len(tilebridge.compile_ttir("module { " + text.replace("NUMBER", str(k)) + " }")) > 0

        def compile_all(first):
            number = first
            while not is_end:
                assert compile_number(number)
                number += 1

        is_end = False
        threads = [threading.Thread(target=compile_all, args=(10000 * i,)) for i in (1, 2)]
        for thread in threads:
            thread.start()
        children = []
        for k in range(40):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if compile_number(k) else 9)
            children.append(pid)
        is_end = True
        for thread in threads:
            thread.join()
        assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
        print("done")
        """,
        head=HEAD + WATCHED,
        TRITON_CACHE_DIR=str(tmp_path / "triton"),
        TILEBRIDGE_CACHE_DIR=str(tmp_path / "tilebridge"),
    )
    assert done.returncode == 0, done.stderr
    assert "done" in done.stdout


ENDLESS = """
import os, pty, signal, struct, sys, time
signal.alarm(90)
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
text = b""
def read_until(what):
    global text
    while what not in text:
        text += os.read(terminal, 4096)
        print(text.decode(), flush=True)
read_until(b"ready")
while struct.unpack("ii", open(sys.argv[2], "rb").read())[1] == 0:
    time.sleep(0.01)
def threads():
    for task in os.listdir(f"/proc/{child}/task"):
        print(task, open(f"/proc/{child}/task/{task}/stat").read().split()[1:15], flush=True)
for _ in range(10):  # Sent and not typed: it only asks.
    os.kill(child, signal.SIGINT)
    read_until(b"is running")
    read_until(b"\\n")
    if b" at " in text:
        break
    threads()
    text = b""
    time.sleep(0.1)
text = b""
os.write(terminal, b"\x03")
read_until(b"a second interrupt")
os.write(terminal, b"\x03")
read_until(b"is left")
_, status = os.waitpid(child, 0)
print("signal", os.WTERMSIG(status))
"""


ENDLESS_KERNELS = {
    "one thread": """
    @triton.jit
    def endless_kernel(lock):
        while tl.atomic_cas(lock, 0, 1) == 1:
            tl.atomic_add(lock + 1, 1)  # nobody unlocks it
    """,
    # The first program, which the launching thread takes, waits until another thread is in the second one.
    "two threads": """
    @triton.jit
    def endless_kernel(lock):
        if tl.program_id(0) == 0:
            while tl.atomic_add(lock, 0) == 0:
                pass
        else:
            tl.atomic_xchg(lock, 1)
            while tl.atomic_add(lock, 0) == 1:
                tl.atomic_add(lock + 1, 1)
    """,
}


@pytest.mark.parametrize(
    ("checked", "kind"), [("0", "one thread"), ("0", "two threads"), ("1", "one thread")]
)
def test_an_endless_kernel_can_be_interrupted(tmp_path, checked, kind):
    kernel, memory = tmp_path / "endless.py", tmp_path / "lock"
    launch = """
    endless_kernel[(2,)](torch.from_file(sys.argv[1], True, 2, dtype=torch.int32))
    """
    body = ENDLESS_KERNELS[kind] + launch
    kernel.write_text(HEAD + textwrap.dedent(body))
    memory.write_bytes(bytes(8))
    threads = "1" if kind == "one thread" else "2"
    done = run_program(
        tmp_path, ENDLESS, kernel, memory, TILEBRIDGE_CHECK=checked, OMP_NUM_THREADS=threads
    )
    assert "signal 2" in done.stdout, done.stdout + done.stderr
    told = r"tilebridge: kernel 'endless_kernel' is running(?: at \S*endless\.py:(\d+):\d+)?(.*)"
    messages = re.findall(told, done.stdout)
    assert {what.strip(":;\r ") for _, what in messages} == {
        "",
        "a second interrupt ends the process",
        "it is left, and the process ends",
    }, done.stdout
    lines = [int(line) for line, _ in messages if line]
    if checked == "1":
        assert not lines
        return
    # Between two programs, say, there is none to name.
    assert lines, done.stdout
    text = kernel.read_text().splitlines()
    assert all("atomic_" in text[line - 1] for line in lines), done.stdout


def test_an_interrupt_of_another_thread_names_the_kernel(tmp_path):
    """The system may give an interrupt to any thread; here to one that runs no kernel."""
    body = """
    import threading, time
    lock = torch.zeros(2, dtype=torch.int32)
    @triton.jit
    def waiting_kernel(lock):
        tl.store(lock + 1, 1)
        while tl.atomic_cas(lock, 1, 2) != 1:
            tl.atomic_add(lock + 1, 1)
    def interrupt():
        while lock[1] == 0:
            time.sleep(0.01)
        for _ in range(2):
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            time.sleep(0.2)
        lock[0] = 1  # The kernel ends.
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        waiting_kernel[(1,)](lock)
        time.sleep(5)
    except KeyboardInterrupt:
        print("interrupted")
    thread.join()
    """
    done, _ = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert "interrupted" in done.stdout
    assert len(re.findall(r"'waiting_kernel' is running at \S*:\d+:\d+\n", done.stderr)) == 2


def test_an_interrupt_reaches_python_after_the_launch(tmp_path):
    body = """
    import threading, time
    @triton.jit
    def long_kernel(x, n):
        for _ in range(n):
            tl.atomic_add(x, 1)
    x = torch.zeros(1, dtype=torch.int32)
    long_kernel[(1,)](x, 1)
    def interrupt():
        while x.item() < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        long_kernel[(1,)](x, 400_000_000)
        time.sleep(5)
    except KeyboardInterrupt:
        print("interrupted", x.item())
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        print("again")
    """
    done, _ = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert "interrupted 400000001\nagain" in done.stdout
    assert done.stderr.count("kernel 'long_kernel' is running") == 1
