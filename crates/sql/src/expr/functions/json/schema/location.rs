//! Locates values in a document by JSON pointers in the form of a URI's fragment (RFC 6901).

use types::json::Node;

/// Returns the pointer to a value that is a part of the document.
pub(super) fn of(document: &Node, value: &Node) -> String {
    let mut tokens = Vec::new();
    let mut shown = String::from("#");
    if find(document, value, &mut tokens) {
        for token in tokens.iter().rev() {
            shown.push('/');
            push_token(token, &mut shown);
        }
    }
    shown
}

/// Reports whether the value is `node` or below it, and appends the steps of the way to it, the
/// last one first. The recursion is as deep as the document.
fn find(node: &Node, value: &Node, tokens: &mut Vec<Vec<u8>>) -> bool {
    if std::ptr::eq(node, value) {
        return true;
    }
    let step = match node {
        Node::Array(elements) => elements
            .iter()
            .position(|element| find(element, value, tokens))
            .map(|at| at.to_string().into_bytes()),
        Node::Object(members) => {
            members.iter().find(|(_, member)| find(member, value, tokens)).map(|(name, _)| name.clone())
        }
        _ => None,
    };
    let is_below = step.is_some();
    tokens.extend(step);
    is_below
}

fn push_token(token: &[u8], shown: &mut String) {
    for byte in token {
        match byte {
            b'~' => shown.push_str("~0"),
            b'/' => shown.push_str("~1"),
            b'-' | b'.' | b'_' => shown.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => shown.push(char::from(*byte)),
            byte => shown.push_str(&format!("%{byte:02X}")),
        }
    }
}

/// Returns the value that a pointer leads to, which is given without the fragment's `#`. `None`
/// means that it is no pointer or leads nowhere.
pub(super) fn value_at<'n>(document: &'n Node, pointer: &[u8]) -> Option<&'n Node> {
    let Some(tokens) = pointer.strip_prefix(b"/") else {
        return pointer.is_empty().then_some(document);
    };
    tokens.split(|byte| *byte == b'/').try_fold(document, |node, token| {
        let token = plain(token)?;
        match node {
            Node::Array(elements) => elements.get(std::str::from_utf8(&token).ok()?.parse::<usize>().ok()?),
            node => node.member(&token),
        }
    })
}

/// Returns a token of a pointer without its escapes. `None` means that they are wrong.
fn plain(token: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(token.len());
    let mut rest = token;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        let byte = match byte {
            b'%' => {
                let (digits, behind) = rest.split_first_chunk::<2>()?;
                rest = behind;
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            byte => *byte,
        };
        if byte != b'~' {
            out.push(byte);
            continue;
        }
        let (escaped, behind) = rest.split_first()?;
        rest = behind;
        out.push(match escaped {
            b'0' => b'~',
            b'1' => b'/',
            _ => return None,
        });
    }
    Some(out)
}
