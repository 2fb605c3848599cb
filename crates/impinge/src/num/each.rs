//! `map` for short arrays in what is called most.
//!
//! The method of the standard library compiles to half a dozen functions for each use. Builds with little optimisation,
//! as those of the tests, leave them as calls, and kernels spent half of their time there.

/// Arrays of two, three or four items.
pub(crate) trait Each<T> {
    /// An array of as many items.
    type Of<U>;

    /// The results for all items, in their order.
    fn each<U>(self, result: impl FnMut(T) -> U) -> Self::Of<U>;
}

impl<T> Each<T> for [T; 2] {
    type Of<U> = [U; 2];

    #[inline(always)]
    fn each<U>(self, mut result: impl FnMut(T) -> U) -> [U; 2] {
        let [a, b] = self;
        [result(a), result(b)]
    }
}

impl<T> Each<T> for [T; 3] {
    type Of<U> = [U; 3];

    #[inline(always)]
    fn each<U>(self, mut result: impl FnMut(T) -> U) -> [U; 3] {
        let [a, b, c] = self;
        [result(a), result(b), result(c)]
    }
}

impl<T> Each<T> for [T; 4] {
    type Of<U> = [U; 4];

    #[inline(always)]
    fn each<U>(self, mut result: impl FnMut(T) -> U) -> [U; 4] {
        let [a, b, c, d] = self;
        [result(a), result(b), result(c), result(d)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_map_in_order() {
        let mut calls = Vec::new();
        assert_eq!([3, 4].each(|x| x * x), [3, 4].map(|x| x * x));
        assert_eq!([3, 4, 5].each(|x| x.to_string()), [3, 4, 5].map(|x| x.to_string()));
        [1, 2, 3, 4].each(|x| calls.push(x));
        assert_eq!(calls, [1, 2, 3, 4]);
    }
}
