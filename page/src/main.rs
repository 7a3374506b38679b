//! `girih-page`: opens a local page that shows layouts and partitions.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use girih_page::server::Server;

/// Opens a page in the browser that shows what girih computes. Nothing leaves this machine.
#[derive(Parser)]
#[command(name = "girih-page", version, about)]
struct Args {
    /// The port of 127.0.0.1 at which the page is; 0 is any that is free
    #[arg(long, default_value_t = 7117)]
    port: u16,
    /// Print the address alone, without a browser
    #[arg(long)]
    no_open: bool,
    /// Serve the files of the page from this folder (`page/static` of girih's sources) in place of those in the binary
    #[arg(long = "static", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Args::parse()) {
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
