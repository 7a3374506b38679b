"""Makes the .ptx files of this folder again: `python compile.py [NAME ...]`. See README.md for the packages it needs.

A CUDA source holds one kernel, a template over `enum Twin`: `right`, and one defect each. All become entries of one
file: `NAME`, and `NAME__defect`. Blocks of comments and the folders of this machine are taken out.
"""

import ctypes
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def library():
    import nvidia

    root = os.path.join(list(nvidia.__path__)[0], "cu13")
    for name in glob.glob(root + "/lib/libnvrtc-builtins*.so*"):
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    return root, ctypes.CDLL(glob.glob(root + "/lib/libnvrtc.so*")[0])


def nvrtc(path):
    """The PTX of every twin of a source, with their names as a launch wants them."""
    root, lib = library()
    name = os.path.basename(path)[:-3]
    source = open(path).read()
    twins = re.search(r"enum Twin \{([^}]*)\}", source)[1]
    twins = re.sub(r"//[^\n]*", "", twins).replace(",", " ").split()
    assert twins[0] == "right", path
    program = ctypes.c_void_p()
    lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), os.path.basename(path).encode(), 0, None, None)
    expressions = {twin: f"{name}<{twin}>".encode() for twin in twins}
    for expression in expressions.values():
        lib.nvrtcAddNameExpression(program, expression)
    arch = "compute_90a" if "sm_90a" in source else "compute_90"
    options = ["--std=c++17", f"--gpu-architecture={arch}", "-lineinfo", f"-I{root}/include", f"-I{root}/include/cccl"]
    array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    status = lib.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    if status:
        lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetProgramLog(program, log)
        sys.exit(f"{path}:\n{log.value.decode()}")
    lib.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetPTX(program, ptx)
    text = ptx.value.decode()
    for twin, expression in expressions.items():
        lowered = ctypes.c_char_p()
        lib.nvrtcGetLoweredName(program, expression, ctypes.byref(lowered))
        entry = name if twin == "right" else f"{name}__{twin}"
        text = re.sub(rf"{re.escape(lowered.value.decode())}(?=_param|\W)", entry, text)
    return text


def triton(name, twin, kernel, signature, target, warps, stages, constants):
    """The PTX of an entry for sm_80 or sm_90, without a GPU, and the shared memory that a launch needs."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    # Pointers, and extents of matrices, are multiples of 16, as a launch would tell.
    divisible = [i for i, (arg, ty) in enumerate(signature.items()) if ty.startswith("*") or arg in ("m", "n", "k")]
    attrs = {(i,): [["tt.divisibility", 16]] for i in divisible}
    source = ASTSource(fn=kernel, signature=signature | {name: "constexpr" for name in constants}, constexprs=constants, attrs=attrs)
    built = compile(source, target=GPUTarget("cuda", target, 32), options={"num_warps": warps, "num_stages": stages})
    entry = name if twin == "right" else f"{name}__{twin}"
    text = re.sub(rf"\b{kernel.__name__}\b(?!\.py)", entry, re.sub(rf"\b{kernel.__name__}(?=_param)", entry, built.asm["ptx"]))
    return text, built.metadata.shared


def clean(text):
    """Without comments, trailing blanks, unused variables, names of inlined functions and the folders of this machine."""
    text = re.sub(r"\.section\s+\.debug_str.*?\n\t?\}", "", text, flags=re.S)
    text = re.sub(r"\.section\s*\.debug_\w+\s*\{.*?\n\t?\}", "", text, flags=re.S)
    text = re.sub(r", function_name [^\n]*?(?=, inlined_at)", "", text)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'(\.file\s+\d+ ")[^"\n]*/', r"\1", text)
    # Headers leave variables that nobody names.
    for line in re.findall(r"^\.(?:global|const)\b[^\n]*;$", text, flags=re.M):
        name = re.search(r"([\w$]+)(?:\[\d*\])*(?:\s*=.*)?;", line)[1]
        if len(re.findall(rf"{re.escape(name)}\b", text)) == 1:
            text = text.replace(line + "\n", "")
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line) + "\n"


def write(name, text):
    with open(os.path.join(HERE, "ptx", f"{name}.ptx"), "w") as file:
        file.write(text)
    print(name, len(text))


def main(chosen):
    os.makedirs(os.path.join(HERE, "ptx"), exist_ok=True)
    for path in sorted(glob.glob(HERE + "/cuda/*.cu")):
        name = os.path.basename(path)[:-3]
        if not chosen or name in chosen:
            write(name, clean(nvrtc(path)))
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    import triton_kernels

    for name, entries in triton_kernels.KERNELS.items():
        if chosen and name not in chosen:
            continue
        header, bodies, shared = "", [], set()
        for twin, build in entries.items():
            text, bytes_ = triton(name, twin, **build)
            header, body = clean(text).split(".extern .shared", 1) if ".extern .shared" in text else (clean(text), "")
            if not body:
                header, body = re.split(r"(?=\.visible)", clean(text), maxsplit=1)
            else:
                body = re.split(r"(?=\.visible)", body, maxsplit=1)[1]
            bodies.append(body)
            shared.add(bytes_)
        shared = max(shared)
        declared = ".extern .shared .align 16 .b8 global_smem[];\n" if any("global_smem" in b for b in bodies) else ""
        write(name, f"// dynamic shared memory {shared}\n" + header + declared + "".join(bodies))


main(sys.argv[1:])
