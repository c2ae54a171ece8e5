//! The wire form of protocol buffers: just what reading hostile messages and writing our own
//! needs. Nothing here recurses or allocates by a length that the bytes do not have.

/// Bytes that are no message of the expected form; says what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// Reads the fields of one message in order.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    /// The fields of a message's bytes.
    pub fn of(bytes: &'b [u8]) -> Self {
        Fields { rest: bytes }
    }

    /// The next field: its number and value; `None` at the end.
    ///
    /// # Errors
    /// [`Malformed`] for a field that runs past the end, has number 0, or an unknown wire type.
    pub fn take_field(&mut self) -> Result<Option<(u64, Value<'b>)>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = varint(&mut self.rest)?;
        if key >> 3 == 0 {
            return Err(Malformed("a field has the number 0"));
        }
        let value = match key & 7 {
            0 => Value::Number(varint(&mut self.rest)?),
            1 => Value::Bytes(self.take(8)?),
            2 => {
                let len = varint(&mut self.rest)?;
                Value::Bytes(self.take(len)?)
            }
            5 => Value::Bytes(self.take(4)?),
            _ => return Err(Malformed("a field has an unknown wire type")),
        };
        Ok(Some((key >> 3, value)))
    }

    fn take(&mut self, len: u64) -> Result<&'b [u8], Malformed> {
        let len = usize::try_from(len).ok().filter(|len| *len <= self.rest.len());
        let len = len.ok_or(Malformed("a field runs past the end"))?;
        let (bytes, rest) = self.rest.split_at(len);
        self.rest = rest;
        Ok(bytes)
    }
}

impl<'b> Value<'b> {
    /// The bytes of a nested message, text or packed list.
    ///
    /// # Errors
    /// [`Malformed`] for a number.
    pub fn bytes(self) -> Result<&'b [u8], Malformed> {
        match self {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Number(_) => Err(Malformed("a number stands where bytes are expected")),
        }
    }

    /// The text of a field; bytes that are no UTF-8 are an error.
    ///
    /// # Errors
    /// [`Malformed`] for anything else.
    pub fn text(self) -> Result<&'b str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed("a text is no UTF-8"))
    }

    /// The number of a field.
    ///
    /// # Errors
    /// [`Malformed`] for bytes.
    pub fn number(self) -> Result<u64, Malformed> {
        match self {
            Value::Number(number) => Ok(number),
            Value::Bytes(_) => Err(Malformed("bytes stand where a number is expected")),
        }
    }

    /// Adds the numbers of a repeated field, packed or one by one.
    ///
    /// # Errors
    /// [`Malformed`] for a number that does not end.
    pub fn numbers(self, into: &mut Vec<u64>) -> Result<(), Malformed> {
        match self {
            Value::Number(number) => into.push(number),
            Value::Bytes(mut bytes) => {
                while !bytes.is_empty() {
                    into.push(varint(&mut bytes)?);
                }
            }
        }
        Ok(())
    }
}

fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let mut number = 0u64;
    for (at, byte) in rest.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            *rest = &rest[at + 1..];
            return Ok(number);
        }
    }
    Err(Malformed("a number does not end"))
}

/// Appends a number field; 0 is left out, as the default it is.
pub fn put_number(out: &mut Vec<u8>, field: u64, number: u64) {
    if number != 0 {
        put_varint(out, field << 3);
        put_varint(out, number);
    }
}

/// Appends a field of bytes, empty ones too.
pub fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a text; an empty one is left out.
pub fn put_text(out: &mut Vec<u8>, field: u64, text: &str) {
    if !text.is_empty() {
        put_bytes(out, field, text.as_bytes());
    }
}

/// Appends a packed list of numbers.
pub fn put_numbers(out: &mut Vec<u8>, field: u64, numbers: impl IntoIterator<Item = u64>) {
    let mut packed = Vec::new();
    numbers.into_iter().for_each(|number| put_varint(&mut packed, number));
    put_bytes(out, field, &packed);
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::{Fields, Malformed, Value, put_bytes, put_number, put_numbers};

    #[test]
    fn fields_come_back_as_written() {
        let mut out = Vec::new();
        put_number(&mut out, 1, 300);
        put_number(&mut out, 2, 0);
        put_bytes(&mut out, 3, b"ab");
        put_numbers(&mut out, 4, [0, u64::MAX]);
        let mut fields = Fields::of(&out);
        assert_eq!(fields.take_field(), Ok(Some((1, Value::Number(300)))));
        assert_eq!(fields.take_field(), Ok(Some((3, Value::Bytes(b"ab")))));
        let mut numbers = Vec::new();
        fields.take_field().unwrap().unwrap().1.numbers(&mut numbers).unwrap();
        assert_eq!((numbers, fields.take_field()), (vec![0, u64::MAX], Ok(None)));
    }

    #[test]
    fn hostile_bytes_are_refused() {
        for bytes in
            [&[0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f, 1][..], &[0x0b], &[0x00, 1], &[0x08], &[0x80; 12], &[0x09, 1]]
        {
            assert!(matches!(Fields::of(bytes).take_field(), Err(Malformed(_))), "{bytes:?}");
        }
    }
}
