//! Lists that mostly hold one element or none, which then take no allocation; others are shared.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A list that is cloned more often than it is made.
#[derive(Clone, Default)]
pub enum Few<T> {
    #[default]
    None,
    One(T),
    Many(Arc<[T]>),
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Few::None => &[],
            Few::One(one) => std::slice::from_ref(one),
            Few::Many(many) => many,
        }
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(mut list: Vec<T>) -> Self {
        match (list.len(), list.pop()) {
            (_, None) => Few::None,
            (1, Some(one)) => Few::One(one),
            (_, Some(last)) => {
                list.push(last);
                Few::Many(list.into())
            }
        }
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(list: I) -> Self {
        let mut list = list.into_iter();
        match (list.next(), list.next()) {
            (None, _) => Few::None,
            (Some(one), None) => Few::One(one),
            (Some(one), Some(two)) => Few::Many([one, two].into_iter().chain(list).collect()),
        }
    }
}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The elements of a list, cloned one by one.
pub struct Elements<T> {
    list: Few<T>,
    at: usize,
}

impl<T: Clone> Iterator for Elements<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.at += 1;
        self.list.get(self.at - 1).cloned()
    }
}

impl<T: Clone> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = Elements<T>;

    fn into_iter(self) -> Self::IntoIter {
        Elements { list: self, at: 0 }
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<T: PartialOrd> PartialOrd for Few<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Ord> Ord for Few<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: Hash> Hash for Few<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Few<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn lists_are_equal_by_their_elements_however_they_were_made() {
        for n in 0..4u32 {
            let collected: Few<u32> = (0..n).collect();
            let converted = Few::from((0..n).collect::<Vec<u32>>());
            assert_eq!(collected, converted);
            assert_eq!(collected.to_vec(), (0..n).collect::<Vec<u32>>());
        }
        assert!(Few::from(vec![1, 2]) < Few::from(vec![1, 3]));
        assert!(Few::One(2) > Few::from(vec![1, 3]));
    }
}
