//! Names of hosts, as the system's resolver knows them (`/etc/hosts`, DNS).

use std::ffi::{CStr, CString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

/// The reason why the resolver has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupError {
    /// There is no such name or address.
    NotFound,
    /// The resolver could not answer. It may be able to later.
    Failed,
}

impl LookupError {
    fn of(code: libc::c_int) -> LookupError {
        if code == libc::EAI_NONAME { LookupError::NotFound } else { LookupError::Failed }
    }
}

/// Returns the name that this machine has given itself. `None` when the system has no such name in
/// UTF-8.
pub fn own_name() -> Option<String> {
    let mut name = [0u8; libc::HOST_NAME_MAX as usize + 1];
    // SAFETY: `name` is exclusively ours for the call, which writes at most its length.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) } != 0;
    if failed {
        return None;
    }
    CStr::from_bytes_until_nul(&name).ok()?.to_str().ok().map(str::to_owned)
}

/// Returns the name of the host that has this address. This may take as long as the resolver waits
/// for name servers.
///
/// # Errors
/// Returns [`LookupError`]. A name that is not UTF-8 counts as [`LookupError::Failed`].
pub fn name_of(ip: IpAddr) -> Result<String, LookupError> {
    // SAFETY: all bytes zero are valid for these, which are numbers and arrays of numbers.
    let (mut v4, mut v6): (libc::sockaddr_in, libc::sockaddr_in6) = unsafe { std::mem::zeroed() };
    let (address, len): (*const libc::sockaddr, usize) = match ip {
        IpAddr::V4(ip) => {
            v4.sin_family = libc::AF_INET as libc::sa_family_t;
            v4.sin_addr.s_addr = u32::from_ne_bytes(ip.octets());
            (ptr::from_ref(&v4).cast(), size_of_val(&v4))
        }
        IpAddr::V6(ip) => {
            v6.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            v6.sin6_addr.s6_addr = ip.octets();
            (ptr::from_ref(&v6).cast(), size_of_val(&v6))
        }
    };
    let mut name = [0u8; libc::NI_MAXHOST as usize];
    // SAFETY: `address` and `len` describe a socket address of the family that it names, and `name`
    // is exclusively ours for the call, which writes at most its length; no service is asked for.
    let code = unsafe {
        libc::getnameinfo(
            address,
            len as libc::socklen_t,
            name.as_mut_ptr().cast(),
            name.len() as libc::socklen_t,
            ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    if code != 0 {
        return Err(LookupError::of(code));
    }
    let name = CStr::from_bytes_until_nul(&name).map_err(|_| LookupError::Failed)?;
    name.to_str().map(str::to_owned).map_err(|_| LookupError::Failed)
}

/// Returns the addresses of the host that has this name.
///
/// # Errors
/// Returns [`LookupError`]. A name with a NUL in it counts as [`LookupError::NotFound`].
pub fn addresses_of(name: &str) -> Result<Vec<IpAddr>, LookupError> {
    let name = CString::new(name).map_err(|_| LookupError::NotFound)?;
    // SAFETY: all bytes zero are valid for numbers and null pointers.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_socktype = libc::SOCK_STREAM;
    let mut first: *mut libc::addrinfo = ptr::null_mut();
    // SAFETY: `name` ends with NUL, `hints` is filled as the call asks, and `first` is ours.
    let code = unsafe { libc::getaddrinfo(name.as_ptr(), ptr::null(), &hints, &mut first) };
    if code != 0 {
        return Err(LookupError::of(code));
    }
    let mut addresses = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: `next` is an element of the list that the call has made, which exists until it is
        // freed below; its address is of the family that it names.
        unsafe {
            match (*next).ai_family {
                libc::AF_INET => {
                    let v4 = (*next).ai_addr.cast::<libc::sockaddr_in>().read_unaligned();
                    addresses.push(Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes()).into());
                }
                libc::AF_INET6 => {
                    let v6 = (*next).ai_addr.cast::<libc::sockaddr_in6>().read_unaligned();
                    addresses.push(Ipv6Addr::from(v6.sin6_addr.s6_addr).into());
                }
                _ => {}
            }
            next = (*next).ai_next;
        }
    }
    // SAFETY: the call has made the list, and nothing refers to it any more.
    unsafe { libc::freeaddrinfo(first) };
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_written_out_need_no_name_server() {
        assert_eq!(addresses_of("192.0.2.7"), Ok(vec![IpAddr::from([192, 0, 2, 7])]));
        let v6: IpAddr = "2001:db8::7".parse().unwrap();
        assert_eq!(addresses_of("2001:db8::7"), Ok(vec![v6]));
        assert_eq!(addresses_of("a\0b"), Err(LookupError::NotFound));
    }

    #[test]
    fn the_machine_knows_its_own_name() {
        let kernels = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(own_name().as_deref(), Some(kernels.trim_end()));
    }

    #[test]
    fn the_machines_own_name_goes_both_ways() {
        let name = name_of(Ipv4Addr::LOCALHOST.into()).unwrap();
        assert!(addresses_of(&name).unwrap().contains(&Ipv4Addr::LOCALHOST.into()), "{name}");
    }
}
