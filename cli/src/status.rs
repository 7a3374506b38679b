//! The exit status of girih.

use std::error::Error as StdError;
use std::io;
use std::process::ExitCode;

use girih_device::Fault;
use girih_tile::error::Error as TileError;

use crate::Error;

/// The result of a subcommand: the exit status, or an error that is printed as one message.
pub(crate) type CommandResult = Result<ExitCode, Box<dyn StdError>>;

/// How exit statuses are to be read, for the help.
pub(crate) const HELP: &str = "\
Exit status:
  0  everything is right; or the reader of the output has read enough and closed its pipe
  1  a result is wrong, a check has found something, or a proof has failed
  2  the call can't be carried out as it is: arguments, names, operands or expressions
  3  something that the call needs is not there or not usable: a file, memory, a GPU, an assembler

With --json, every command prints one JSON object a line on standard output and nothing on standard error but what `girih sim` finds; \
an error is {\"error\": {\"kind\", \"message\", \"status\"}}, and of an expression also \"at\", the byte at which the error is.

Nothing is coloured where NO_COLOR is set, and progress is shown on terminals alone.";

/// The exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// A result is wrong.
    Wrong,
    /// The call can't be carried out as it is.
    Refused,
    /// Something that the call needs is not there.
    Failed,
}

impl Status {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Status::Wrong => 1,
            Status::Refused => 2,
            Status::Failed => 3,
        }
    }

    /// The kind of an error in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Status::Wrong => "wrong",
            Status::Refused => "refused",
            Status::Failed => "failed",
        }
    }

    /// The status of an error. What no library says otherwise of is the caller's.
    pub(crate) fn of(error: &(dyn StdError + 'static)) -> Status {
        if let Some(error) = error.downcast_ref::<Error>() {
            return of_own(error);
        }
        if let Some(error) = error.downcast_ref::<girih_notation::Error>() {
            return of_notation(error);
        }
        if let Some(error) = error.downcast_ref::<girih_kernels::Error>() {
            return match error {
                girih_kernels::Error::Device(error) => of_device(error),
                _ => Status::Refused,
            };
        }
        if let Some(error) = error.downcast_ref::<girih_device::Error>() {
            return of_device(error);
        }
        if let Some(TileError::Device(error) | TileError::Finding { error, .. }) =
            error.downcast_ref::<TileError>()
        {
            return of_device(error);
        }
        if let Some(error) = error.downcast_ref::<girih_sim::Error>() {
            return of_simulator(error);
        }
        match error.downcast_ref::<girih_ptx::Error>() {
            Some(error) => of_ptx(error),
            None if error.is::<io::Error>() || error.is::<serde_json::Error>() => Status::Failed,
            None => Status::Refused,
        }
    }
}

fn of_own(error: &Error) -> Status {
    use Error::*;
    match error {
        Wrong(_) => Status::Wrong,
        Notation(error) => of_notation(error),
        Write { .. } | ElementType { .. } | Rank { .. } | Ptx { .. } => Status::Failed,
        Records { .. } | NoAssembler | Memory(_) | NoTimes(_) => Status::Failed,
        _ => Status::Refused,
    }
}

fn of_notation(error: &girih_notation::Error) -> Status {
    use girih_notation::Error::*;
    match error {
        TensorMap(error) => of_ptx(error),
        Memory(error) => of_simulator(error),
        Read { .. } | NotNpy { .. } | BigEndian { .. } | Truncated { .. } => Status::Failed,
        ElementOfArray { .. } | NoTensor { .. } => Status::Failed,
        _ => Status::Refused,
    }
}

fn of_ptx(error: &girih_ptx::Error) -> Status {
    match error {
        girih_ptx::Error::TensorMap { .. } => Status::Refused,
        _ => Status::Failed,
    }
}

fn of_device(error: &girih_device::Error) -> Status {
    match (error, error.fault()) {
        (girih_device::Error::Sim(_) | girih_device::Error::KernelFailed { .. }, _) => Status::Wrong,
        (_, Fault::Caller) => Status::Refused,
        _ => Status::Failed,
    }
}

/// Of what the simulator says before it runs a kernel of the user's.
fn of_simulator(error: &girih_sim::Error) -> Status {
    use girih_sim::Error::*;
    match error {
        UnknownKernel { .. }
        | ArgumentCount { .. }
        | ArgumentSize { .. }
        | LaunchShape { .. }
        | SharedTooLarge { .. } => Status::Refused,
        _ => Status::Failed,
    }
}
