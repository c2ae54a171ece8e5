//! Rows of numbers: how a fact table becomes columns and back.
//!
//! Every table of [`crate::facts::model::FileFacts`] is a list of plain rows whose fields are
//! numbers, closed enums, flags or ids. The `table!` macro derives from one declaration the
//! struct, its column names, and a *checked* reading back, so that the Parquet schema, the
//! canonical digest and the validation of hostile bytes cannot drift from the model.

use std::num::NonZeroU32;

/// How wide a column's values are when stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Values below 2³²; stored as INT32, delta encoded.
    Narrow,
    /// Hashes; stored as INT64, plain.
    Wide,
}

/// A column of a table: its name and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The field's name.
    pub name: &'static str,
    /// The width of its values.
    pub width: Width,
}

/// A field type that is stored as one number.
pub trait Cell: Sized + Copy {
    /// The stored width.
    const WIDTH: Width = Width::Narrow;
    /// The number that is stored.
    fn to_cell(self) -> u64;
    /// The value of a stored number; `None` when no value has that number.
    fn from_cell(cell: u64) -> Option<Self>;
}

impl Cell for u32 {
    fn to_cell(self) -> u64 {
        u64::from(self)
    }
    fn from_cell(cell: u64) -> Option<Self> {
        u32::try_from(cell).ok()
    }
}

impl Cell for bool {
    fn to_cell(self) -> u64 {
        u64::from(self)
    }
    fn from_cell(cell: u64) -> Option<Self> {
        match cell {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

/// A 64-bit hash; 0 stands for "nothing there".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash64(pub u64);

impl Cell for Hash64 {
    const WIDTH: Width = Width::Wide;
    fn to_cell(self) -> u64 {
        self.0
    }
    fn from_cell(cell: u64) -> Option<Self> {
        Some(Hash64(cell))
    }
}

/// An id is stored as its index + 1, so that `None` is 0.
pub trait Id: Copy + Sized {
    /// The id of a row index.
    fn new(index: usize) -> Self;
    /// The row index.
    fn index(self) -> usize;
}

impl<T: Cell + Id> Cell for Option<T> {
    fn to_cell(self) -> u64 {
        self.map_or(0, |id| id.index() as u64 + 1)
    }
    fn from_cell(cell: u64) -> Option<Self> {
        match cell {
            0 => Some(None),
            n => u32::try_from(n).ok().map(|n| Some(T::new(n as usize - 1))),
        }
    }
}

/// A row of a table.
pub trait Row: Sized + Clone {
    /// The table's short name, the prefix of its stored columns.
    const TABLE: &'static str;
    /// Its columns, in order of the fields.
    const COLUMNS: &'static [Column];
    /// Appends the fields' numbers to `out`, one vector a column.
    fn write(&self, out: &mut [Vec<u64>]);
    /// Reads row `at` back; `None` when a number is out of its field's range.
    fn read(columns: &[Vec<u64>], at: usize) -> Option<Self>;
}

/// The number inside an id: index + 1.
#[doc(hidden)]
pub fn non_zero(index: usize) -> NonZeroU32 {
    let n = u32::try_from(index + 1).expect("because a file's bytes are capped far below 2^32 facts");
    NonZeroU32::new(n).expect("because index + 1 is positive")
}

/// Declares an id type: a row index into one table.
#[macro_export]
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::num::NonZeroU32);
        impl $crate::facts::table::Id for $name {
            fn new(index: usize) -> Self {
                $name($crate::facts::table::non_zero(index))
            }
            fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
        impl $crate::facts::table::Cell for $name {
            fn to_cell(self) -> u64 {
                use $crate::facts::table::Id;
                self.index() as u64
            }
            fn from_cell(cell: u64) -> Option<Self> {
                use $crate::facts::table::Id;
                (cell < u64::from(u32::MAX)).then(|| $name::new(cell as usize))
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                use $crate::facts::table::Id;
                write!(f, "{}{}", stringify!($name), self.index())
            }
        }
    };
}

/// Declares a closed enum that is stored as its ordinal and printed by a short name.
#[macro_export]
macro_rules! cell_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
        impl $name {
            /// Every value, in stored order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The name in outputs and dumps.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }
        impl $crate::facts::table::Cell for $name {
            fn to_cell(self) -> u64 {
                self as u64
            }
            fn from_cell(cell: u64) -> Option<Self> {
                Self::ALL.get(usize::try_from(cell).ok()?).copied()
            }
        }
    };
}

/// Declares a table's row: the struct and its [`Row`] implementation.
#[macro_export]
macro_rules! table {
    ($(#[$doc:meta])* $name:ident in $table:literal { $($(#[$fdoc:meta])* $field:ident: $ty:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),+ }
        impl $crate::facts::table::Row for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [$crate::facts::table::Column] = &[$($crate::facts::table::Column {
                name: stringify!($field),
                width: <$ty as $crate::facts::table::Cell>::WIDTH,
            }),+];
            fn write(&self, out: &mut [Vec<u64>]) {
                let mut column = out.iter_mut();
                $(column
                    .next()
                    .expect("because the caller gives one vector a column")
                    .push($crate::facts::table::Cell::to_cell(self.$field));)+
            }
            fn read(columns: &[Vec<u64>], at: usize) -> Option<Self> {
                let mut column = columns.iter();
                Some($name {
                    $($field: $crate::facts::table::Cell::from_cell(*column.next()?.get(at)?)?),+
                })
            }
        }
    };
}
