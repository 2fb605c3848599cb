use super::*;

#[test]
fn methods_are_known_by_their_names() {
    for &method in Method::ALL {
        assert_eq!(method.name().parse::<Method>().as_ref(), Ok(&method));
        assert_eq!(method.detector().map(|detector| detector.name()), Some(method.name()));
    }
    let refused = "fast".parse::<Method>().unwrap_err().to_string();
    assert!(refused.contains("auto, exact, brute"), "{refused}");
}
