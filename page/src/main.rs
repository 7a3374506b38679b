//! `girih-page`: opens a local page that shows layouts and partitions.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use girih_page::server::Server;

const HELP: &str = "\
Opens a page in the browser that shows what girih computes. Nothing leaves this machine.

Usage: girih-page [OPTIONS]

Options:
      --port <PORT>      The port of 127.0.0.1 at which the page is; 0 is any that is free [default: 7117]
      --no-open          Print the address alone, without a browser
      --static <FOLDER>  Serve the files of the page from this folder (`page/static` of girih's sources) in place of those in the binary
  -h, --help             Print help
  -V, --version          Print version";

/// The arguments of the program.
struct Args {
    port: u16,
    no_open: bool,
    folder: Option<PathBuf>,
}

/// What the program is to do.
enum Call {
    Serve(Args),
    Say(&'static str),
}

/// The call that the arguments are. The error says which argument is wrong.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Call, String> {
    let mut args = Args { port: 7117, no_open: false, folder: None };
    while let Some(argument) = arguments.next() {
        let (name, given) = argument
            .split_once('=')
            .map_or((&*argument, None), |(name, value)| (name, Some(value.to_owned())));
        let mut value =
            || given.clone().or_else(|| arguments.next()).ok_or_else(|| format!("{name} needs a value"));
        match name {
            "--port" => {
                let text = value()?;
                args.port = text
                    .parse()
                    .map_err(|_| format!("--port is `{text}`: a number of 0 to 65535 is accepted"))?;
            }
            "--static" => args.folder = Some(value()?.into()),
            "--no-open" if given.is_none() => args.no_open = true,
            "-h" | "--help" => return Ok(Call::Say(HELP)),
            "-V" | "--version" => return Ok(Call::Say(concat!("girih-page ", env!("CARGO_PKG_VERSION")))),
            _ => {
                return Err(format!("there is no `{argument}`: --port, --no-open and --static are accepted"));
            }
        }
    }
    Ok(Call::Serve(args))
}

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let args = match parse(arguments) {
        Ok(Call::Serve(args)) => args,
        Ok(Call::Say(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::bind(args.port, args.folder).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("another program has port {} (perhaps a page that is open already): give another by --port, or --port 0 for any that is free", args.port)
        }
        _ => format!("no page at port {}: {error}", args.port),
    })?;
    println!("{}", server.address());
    if !args.no_open
        && let Err(error) = open::that_detached(server.address())
    {
        eprintln!("note: no browser could be started ({error}): open the address above");
    }
    Ok(server.run()?)
}
