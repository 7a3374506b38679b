//! Arrays in device memory.

use expect_test::expect;
use girih_tile::launch::DeviceArray;

use super::{device, numbers};

#[test]
fn parts_and_permutations_are_the_elements_that_they_name() {
    let device = device();
    let x = DeviceArray::upload(&device, &numbers(4 * 6 * 5), [4, 6, 5]).unwrap();
    let part = x.slice(1, 2..5).unwrap().permute([2, 0, 1]).unwrap();
    assert_eq!(part.extents(), [5, 4, 3]);
    let got = part.download().unwrap();
    let all = numbers(4 * 6 * 5);
    let mut wanted = Vec::new();
    for k in 0..5 {
        for i in 0..4 {
            for j in 2..5 {
                wanted.push(all[(i * 6 + j) * 5 + k]);
            }
        }
    }
    assert_eq!(got, wanted);
    let truths = [true, false, true];
    assert_eq!(DeviceArray::upload(&device, &truths, [3]).unwrap().download().unwrap(), truths);
    assert!(x.slice(0, 2..2).unwrap().download().unwrap().is_empty());
}

#[test]
fn elements_outside_of_the_buffer_are_refused() {
    let device = device();
    let buffer = || device.upload(&numbers(10)).unwrap();
    assert!(DeviceArray::<f32, 2>::new(buffer(), 1, [3, 3], [3, 1]).is_ok());
    let text = DeviceArray::<f32, 2>::new(buffer(), 2, [3, 3], [3, 1]).unwrap_err().to_string() + "\n";
    expect![[r#"
        elements [3, 3]:[3, 1] from element 2 on are not all in a buffer of 10 elements
    "#]]
    .assert_eq(&text);
    let text = DeviceArray::upload(&device, &numbers(5), [2, 3]).unwrap_err().to_string() + "\n";
    expect![[r#"
        5 elements for an array [2, 3], which has as many as the product of its extents
    "#]]
    .assert_eq(&text);
    let x = DeviceArray::upload(&device, &numbers(6), [2, 3]).unwrap();
    let text = x.slice(1, 2..4).unwrap_err().to_string() + "\n";
    expect![[r#"
        the elements 2..4 along axis 1 are not in an array [2, 3]
    "#]]
    .assert_eq(&text);
    let text = x.permute([1, 1]).unwrap_err().to_string() + "\n";
    expect![[r#"
        the axes [1, 1] are no permutation of 0 to 1
    "#]]
    .assert_eq(&text);
}
