"""Makes the .ptx files of this folder again: `python compile.py`. See README.md for the packages it needs."""

import ctypes
import glob
import os
import re
import sys
import sysconfig

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = ["--std=c++17", "--device-as-default-execution-space", "--restrict"]


def nvrtc(path, arch, extra=()):
    """Compiles a CUDA source for an architecture such as `compute_80`; the PTX."""
    import nvidia

    root = os.path.join(list(nvidia.__path__)[0], "cu13")
    for name in glob.glob(root + "/lib/libnvrtc-builtins*.so*"):
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    lib = ctypes.CDLL(glob.glob(root + "/lib/libnvrtc.so*")[0])
    source = open(path).read().encode()
    program = ctypes.c_void_p()
    lib.nvrtcCreateProgram(ctypes.byref(program), source, os.path.basename(path).encode(), 0, None, None)
    options = OPTIONS + [f"--gpu-architecture={arch}", f"-I{root}/include", f"-I{root}/include/cccl", *extra]
    array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    status = lib.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    if status:
        lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetProgramLog(program, log)
        sys.exit(f"{path} for {arch}:\n{log.value.decode()}")
    lib.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetPTX(program, ptx)
    return ptx.value.decode()


def triton(kernel, signature, constants, capability, warps=4, stages=2):
    """Compiles a Triton kernel for sm_80 or sm_90 without a GPU; the PTX, with what a launch needs as a comment."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    # Pointers and pitches are multiples of 16, as a launch would tell.
    divisible = [i for i, (name, ty) in enumerate(signature.items()) if ty.startswith("*") or name.startswith("ld") or name == "k"]
    attrs = {(i,): [["tt.divisibility", 16]] for i in divisible}
    signature = signature | {name: "constexpr" for name in constants}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attrs)
    built = compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps, "num_stages": stages})
    return f"// threads {32 * warps}, dynamic shared memory {built.metadata.shared}\n" + built.asm["ptx"]


def clean(text):
    """Without trailing blanks and the folders of this machine; in the bytes of debug information they become dots."""
    text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    spelled = "".join(rf"\.b8 {ord(c)}\b[^\n]*\n" for c in HERE)
    text = re.sub(spelled, lambda match: re.sub(r"\.b8 \d+", ".b8 46", match[0]), text)
    packages = sysconfig.get_paths()["purelib"]
    return text.replace(packages + "/", "").replace(HERE + "/", "").replace(HERE, ".")


def pair(stem, build):
    """Writes the PTX for sm_80, and for sm_90 if it differs in more than the target."""
    old, new = clean(build(80)), clean(build(90))
    same = old == new.replace(".target sm_90a", ".target sm_80").replace(".target sm_90", ".target sm_80")
    for sm, text in [("", old)] if same else [("_sm80", old), ("_sm90", new)]:
        with open(os.path.join(HERE, f"{stem}{sm}.ptx"), "w") as file:
            file.write(text)
        print(f"{stem}{sm}.ptx", len(text))


def main():
    for path in sorted(glob.glob(HERE + "/*.cu")):
        stem = os.path.basename(path)[:-3]
        extra = ["-lineinfo"] if stem == "control" else []
        pair(f"nvrtc_{stem}", lambda sm: nvrtc(path, f"compute_{sm}", extra))
    import triton_kernels

    for name, build in triton_kernels.KERNELS.items():
        # Debug information is most of such a file: one has it.
        os.environ["TRITON_DISABLE_LINE_INFO"] = str(int(name != "softmax"))
        pair(f"triton_{name}", lambda sm: triton(capability=sm, **build))


main()
