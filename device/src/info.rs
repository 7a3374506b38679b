//! Signatures of kernels, until girih-ptx has them.

use girih_ptx::{Directive, Extent, Item, Module, Name, Statement, Type, VarSpace};

/// A kernel's signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name.
    pub name: Name,
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of declared shared memory.
    pub static_shared_bytes: u32,
    /// `.maxntid`, the product.
    pub max_threads: Option<u32>,
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// Instructions in the text.
    pub instructions: usize,
}

/// A kernel's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its name.
    pub name: Name,
    /// Element type.
    pub ty: Type,
    /// Bytes.
    pub bytes: u32,
}

pub(crate) fn kernels(module: &Module) -> Vec<KernelInfo> {
    let kernels = module.items.iter().filter_map(|item| match item {
        Item::Kernel(kernel) => Some(kernel),
        Item::Variable(_) => None,
    });
    kernels
        .map(|kernel| KernelInfo {
            name: kernel.name.clone(),
            params: kernel
                .params
                .iter()
                .map(|p| ParamInfo { name: p.name.clone(), ty: p.ty, bytes: bytes(p.ty, p.extent) })
                .collect(),
            static_shared_bytes: shared(&kernel.body),
            max_threads: kernel.directives.iter().find_map(|d| match d {
                Directive::MaxNtid(n) | Directive::ReqNtid(n) => Some(n.iter().product()),
                _ => None,
            }),
            required_threads: kernel.directives.iter().find_map(|d| match d {
                Directive::ReqNtid(n) => Some(*n),
                _ => None,
            }),
            instructions: instructions(&kernel.body),
        })
        .collect()
}

fn bytes(ty: Type, extent: Extent) -> u32 {
    let n = match extent {
        Extent::Scalar => 1,
        Extent::Array(n) => n as u32,
        Extent::Unsized => 0,
    };
    n * ty.bytes().unwrap_or(0)
}

fn shared(body: &[Statement]) -> u32 {
    body.iter()
        .map(|s| match s {
            Statement::Variable(v) if v.space == VarSpace::Shared => bytes(v.ty, v.extent),
            Statement::Block(inner) => shared(inner),
            _ => 0,
        })
        .sum()
}

fn instructions(body: &[Statement]) -> usize {
    body.iter()
        .map(|s| match s {
            Statement::Inst(_) => 1,
            Statement::Block(inner) => instructions(inner),
            _ => 0,
        })
        .sum()
}
