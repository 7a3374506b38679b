//! `girih-page`: opens a local page that shows layouts and partitions.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use girih_page::server::Server;
use serde_json::{Value, json};

const HELP: &str = "\
Opens a page in the browser that shows what girih computes. Nothing leaves this machine.

Usage: girih-page [OPTIONS]
       girih-page --record <FILE> <KERNEL>

Options:
      --port <PORT>      The port of 127.0.0.1 at which the page is; 0 is any that is free [default: 7117]
      --no-open          Print the address alone, without a browser
      --static <FOLDER>  Serve the files of the page from this folder (`page/static` of girih's sources) in place of those in the binary
      --record <FILE>    Write a page that replays a kernel of the view Kernels without a server, and open nothing
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
    Record { file: PathBuf, kernel: String },
    Say(&'static str),
}

/// The call that the arguments are. The error says which argument is wrong.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Call, String> {
    let mut args = Args { port: 7117, no_open: false, folder: None };
    let (mut file, mut kernel) = (None, None);
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
            "--record" => file = Some(PathBuf::from(value()?)),
            "--no-open" if given.is_none() => args.no_open = true,
            "-h" | "--help" => return Ok(Call::Say(HELP)),
            "-V" | "--version" => return Ok(Call::Say(concat!("girih-page ", env!("CARGO_PKG_VERSION")))),
            _ if !name.starts_with('-') && kernel.is_none() => kernel = Some(argument),
            _ => {
                return Err(format!(
                    "there is no `{argument}`: --port, --no-open, --static, and --record with the name of a kernel are accepted"
                ));
            }
        }
    }
    match (file, kernel) {
        (None, None) => Ok(Call::Serve(args)),
        (Some(file), Some(kernel)) => Ok(Call::Record { file, kernel }),
        (None, Some(kernel)) => Err(format!("`{kernel}` is the name of a kernel, which --record takes")),
        (Some(_), None) => Err("--record takes the name of a kernel too, such as sum_race".into()),
    }
}

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let done = match parse(arguments) {
        Ok(Call::Serve(args)) => run(args),
        Ok(Call::Record { file, kernel }) => record(&file, &kernel),
        Ok(Call::Say(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match done {
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

/// Writes the recording of a kernel.
fn record(file: &Path, kernel: &str) -> Result<(), Box<dyn std::error::Error>> {
    let ask = |call: &str, body: Value| -> Result<Value, Box<dyn std::error::Error>> {
        let answer = girih_page::call("kernels", call, body.to_string().as_bytes());
        Ok(serde_json::from_str(&answer.map_err(|fault| fault.message)?)?)
    };
    let run = ask("run", json!({ "kernel": kernel }))?;
    let page = ask("recording", json!({ "run": run["run"] }))?;
    let page = page.as_str().unwrap_or_default();
    std::fs::write(file, page).map_err(|error| format!("{}: {error}", file.display()))?;
    println!("{}: {} KB", file.display(), page.len().div_ceil(1000));
    Ok(())
}
