//! Lines of launches: what is read of them, and what is refused with which words.

use girih_notation::Plan;
use girih_sim::{Launch, Memory};

fn launch(line: &str) -> Launch {
    let plan = Plan::parse(line).expect("a launch");
    let (mut ready, _) = plan.bind(&Memory::new()).expect("arguments");
    ready.remove(0).launch
}

#[test]
fn options_are_read_in_any_order_and_form() {
    let wanted = "[2, 3, 1] [64, 1, 1] Some([2, 1, 1]) true 128 [[5, 0, 0, 0], [1]]";
    for line in [
        "k --grid 2,3 --block 64 --cluster 2 --cooperative --smem 128 --arg u32:5 --arg u8:1",
        "--smem=128 --arg=u32:5 --cooperative k --block=64 --arg bytes:01 --cluster=2,1,1 --grid=2,3,1 # k",
    ] {
        let Launch { grid, block, cluster, cooperative, dynamic_shared, args } = launch(line);
        let found = format!("{grid:?} {block:?} {cluster:?} {cooperative} {dynamic_shared} {args:?}");
        assert_eq!(found, wanted, "{line}");
    }
    let plain = launch("k --grid 1 --block 1");
    assert_eq!((plain.cluster, plain.cooperative, plain.dynamic_shared), (None, false, 0));
}

#[test]
fn what_is_no_launch_is_refused_with_its_line() {
    for (line, says) in [
        ("k --grid 1", "--block is missing: a launch is KERNEL --grid X,Y,Z"),
        ("--grid 1 --block 1", "the kernel is missing"),
        ("k --grid 1 --block 1 --grid 2", "--grid is given twice"),
        ("k --grid 1 --block", "--block has no value"),
        ("k --grid 1,2,3,4 --block 1", "--grid `1,2,3,4`: expected x, or x,y or x,y,z"),
        ("k --grid 1 --block 1 --smem -1", "--smem `-1`: expected a number of bytes"),
        ("k --grid 1 --block 1 --cooperative=yes", "there is no `--cooperative=yes`"),
        ("k other --grid 1 --block 1", "there is no `other`"),
        ("k --grid 1 --block 1 --arg u8:256", "`u8:256`: expected a number that u8 holds"),
    ] {
        let refused = Plan::parse(&format!("# a comment\n{line}")).expect_err(line);
        assert_eq!(refused.line, 2, "{line}");
        assert!(refused.message.contains(says), "{line}: {}", refused.message);
    }
}
