//! Where a service without keys may listen.

use std::net::IpAddr;

use bylaw_contract::ErrorCode;

/// Why a service may not listen on an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} can be reached from other machines, and no keys are configured; listen on 127.0.0.1 or ::1")]
pub struct ListenRefused {
    /// The address that was asked for.
    pub address: IpAddr,
}

impl ListenRefused {
    /// The stable code of this failure.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        ErrorCode::AddressUnavailable
    }
}

/// Checks that an open service stays on this machine.
///
/// # Errors
/// If `address` is not a loopback address.
pub const fn check_listen_address(address: IpAddr) -> Result<(), ListenRefused> {
    if address.is_loopback() { Ok(()) } else { Err(ListenRefused { address }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_keys_only_loopback_is_listened_on() {
        for good in ["127.0.0.1", "127.8.8.8", "::1"] {
            assert_eq!(check_listen_address(good.parse().unwrap()), Ok(()), "{good}");
        }
        for bad in ["0.0.0.0", "192.168.1.5", "::", "2001:db8::1"] {
            assert!(check_listen_address(bad.parse().unwrap()).is_err(), "{bad}");
        }
    }
}
