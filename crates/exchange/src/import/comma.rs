//! Fields of a separated line, quoted or not (RFC 4180, without line ends inside quotes).

/// The fields of a line, without their quotes and the blanks around them.
pub(crate) fn fields(line: &str, separator: char) -> Vec<String> {
    let mut out = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            // Quotes open at the beginning of a field only; elsewhere they are characters.
            '"' if field.trim().is_empty() => {
                field.clear();
                quoted = true;
            }
            c if c == separator && !quoted => out.push(std::mem::take(&mut field).trim().to_owned()),
            c => field.push(c),
        }
    }
    out.push(field.trim().to_owned());
    out
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn quotes() {
        assert_eq!(fields(r#"a, "b ""c"", d",,5" x"#, ','), ["a", "b \"c\", d", "", "5\" x"]);
        assert_eq!(fields("", ','), [""]);
        assert_eq!(fields("\"open, to the end", ','), ["open, to the end"]);
        assert_eq!(fields("1,5;2", ';'), ["1,5", "2"]);
    }
}
