//! A file opened past the system's page cache (O_DIRECT), with batches of reads or writes in flight
//! at the same time (io_uring).
//!
//! Memory, offsets and lengths must be multiples of [`IO_ALIGNMENT`]. Memory that is not aligned
//! goes through a buffer that is. Where the kernel has no io_uring, or runs out of it, the pieces
//! of a batch are read or written one after the other.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::buffered::BufferedFile;
use super::interface::{File, placed, read_one_by_one};
use super::uses::Operation;
use crate::aligned::{AlignedBuffer, IO_ALIGNMENT};
use crate::clock::ticks;

/// The most writes of a batch that are in flight at the same time.
const IN_FLIGHT: usize = 32;
/// The most bytes of a batch that are in flight at the same time. A device serves first what it was
/// given first, and reads of other threads shall not wait for megabytes.
const IN_FLIGHT_BYTES: usize = 512 << 10;
/// The most bytes of a single write of a batch. A longer piece is written in several parts.
const WRITE_BYTES: usize = 128 << 10;

/// The most reads of a batch that are in flight at the same time. Reads are short, and somebody
/// will want their pages soon.
const READS_IN_FLIGHT: usize = 64;

/// The rings that no batch uses right now. The mutex is a leaf in every lock order.
static RINGS: Mutex<Vec<io_uring::IoUring>> = Mutex::new(Vec::new());
/// Whether the kernel has refused a ring. Then nobody asks for one again.
static NO_RINGS: AtomicBool = AtomicBool::new(false);

/// Reports whether batches are written through io_uring.
pub fn has_native_aio() -> bool {
    let ring = take_ring();
    let has = ring.is_some();
    RINGS.lock().extend(ring);
    has
}

fn take_ring() -> Option<io_uring::IoUring> {
    if let Some(ring) = RINGS.lock().pop() {
        return Some(ring);
    }
    if NO_RINGS.load(Ordering::Relaxed) {
        return None;
    }
    match io_uring::IoUring::new(IN_FLIGHT.max(READS_IN_FLIGHT) as u32) {
        Ok(ring) => Some(ring),
        Err(_) => {
            NO_RINGS.store(true, Ordering::Relaxed);
            None
        }
    }
}

#[derive(Debug)]
pub(super) struct DirectFile {
    file: BufferedFile,
    /// The largest write that the storage promises not to tear, in bytes; see
    /// [`File::untorn_bytes`].
    untorn_bytes: usize,
    native_aio: bool,
}

/// Adds O_DIRECT to the options.
pub(super) fn options(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    options.custom_flags(libc::O_DIRECT)
}

fn is_aligned(bytes: &[u8], offset: u64) -> bool {
    bytes.as_ptr().addr().is_multiple_of(IO_ALIGNMENT)
        && bytes.len().is_multiple_of(IO_ALIGNMENT)
        && offset.is_multiple_of(IO_ALIGNMENT as u64)
}

impl DirectFile {
    pub fn new(file: BufferedFile, native_aio: bool) -> DirectFile {
        let untorn_bytes = promise_of(&file.file);
        DirectFile { file, untorn_bytes, native_aio }
    }

    fn misaligned(&self, offset: u64) -> io::Error {
        let message = format!("{}: direct I/O at {offset} is not aligned", self.path().display());
        io::Error::new(io::ErrorKind::InvalidInput, message)
    }
}

/// Returns the largest write in bytes that statx promises to be made whole or not at all. 0 means
/// no such promise.
fn promise_of(file: &fs::File) -> usize {
    // SAFETY: all zeros is a valid statx.
    let mut found: libc::statx = unsafe { std::mem::zeroed() };
    let (fd, mask) = (file.as_raw_fd(), libc::STATX_WRITE_ATOMIC);
    // SAFETY: the descriptor is open, the path is an empty C string, and the result is a live
    // statx.
    let outcome = unsafe { libc::statx(fd, c"".as_ptr(), libc::AT_EMPTY_PATH, mask, &mut found) };
    let smallest = found.stx_atomic_write_unit_min as usize;
    let promised = outcome == 0 && found.stx_mask & mask != 0 && (1..=IO_ALIGNMENT).contains(&smallest);
    if promised { found.stx_atomic_write_unit_max as usize } else { 0 }
}

impl File for DirectFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        if is_aligned(bytes, offset) {
            return self.file.read_at(bytes, offset);
        }
        if !bytes.len().is_multiple_of(IO_ALIGNMENT) || !offset.is_multiple_of(IO_ALIGNMENT as u64) {
            return Err(self.misaligned(offset));
        }
        let mut aligned = AlignedBuffer::zeroed(bytes.len());
        let got = self.file.read_at(&mut aligned, offset)?;
        bytes[..got].copy_from_slice(&aligned[..got]);
        Ok(got)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if is_aligned(bytes, offset) {
            return self.file.write_all_at(bytes, offset);
        }
        if !bytes.len().is_multiple_of(IO_ALIGNMENT) || !offset.is_multiple_of(IO_ALIGNMENT as u64) {
            return Err(self.misaligned(offset));
        }
        let mut aligned = AlignedBuffer::zeroed(bytes.len());
        aligned.copy_from_slice(bytes);
        self.file.write_all_at(&aligned, offset)
    }

    fn write_batch(&self, pieces: &[(u64, &[u8])]) -> io::Result<()> {
        let alone = |&(offset, bytes): &(u64, &[u8])| self.write_all_at(bytes, offset);
        let in_flight = self.native_aio && pieces.len() > 1;
        let Some(mut ring) = in_flight.then(take_ring).flatten() else {
            return pieces.iter().try_for_each(alone);
        };
        let (aligned, others): (Vec<_>, Vec<_>) =
            pieces.iter().partition(|&&(offset, bytes)| is_aligned(bytes, offset));
        let aligned: Vec<(u64, &[u8])> = aligned.into_iter().flat_map(parts_of).collect();
        // A ring that failed is dropped, together with the entries that it may still hold.
        write_in_flight(&mut ring, &self.file, &aligned)
            .map_err(|error| placed("write a batch of", self.path(), &error))?;
        RINGS.lock().push(ring);
        others.iter().try_for_each(alone)?;
        Ok(())
    }

    fn read_batch(&self, pieces: &mut [(u64, &mut [u8])], done: &mut dyn FnMut(usize, io::Result<&[u8]>)) {
        let in_flight =
            self.native_aio && pieces.len() > 1 && pieces.iter().all(|(at, bytes)| is_aligned(bytes, *at));
        let Some(mut ring) = in_flight.then(take_ring).flatten() else {
            return read_one_by_one(self, pieces, done);
        };
        read_in_flight(&mut ring, &self.file, pieces, done);
        RINGS.lock().push(ring);
    }

    fn untorn_bytes(&self) -> usize {
        self.untorn_bytes
    }

    fn write_untorn_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if !is_aligned(bytes, offset) {
            return Err(self.misaligned(offset));
        }
        let piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let since = ticks();
        loop {
            let fd = self.file.file.as_raw_fd();
            // SAFETY: the descriptor is open; the one piece describes `bytes`, which are only read.
            let written = unsafe { libc::pwritev2(fd, &piece, 1, offset as libc::off_t, libc::RWF_ATOMIC) };
            match usize::try_from(written) {
                Ok(written) if written == bytes.len() => {
                    self.file.used.note(Operation::Write, written, since);
                    return Ok(());
                }
                Ok(written) => {
                    let message = format!("{written} of {} bytes written in one", bytes.len());
                    let error = io::Error::new(io::ErrorKind::WriteZero, message);
                    return Err(placed(&format!("write at {offset} of"), self.path(), &error));
                }
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(placed(&format!("write at {offset} of"), self.path(), &error));
                    }
                }
            }
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn len_bytes(&self) -> io::Result<u64> {
        self.file.len_bytes()
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.file.set_len(len_bytes)
    }

    fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Returns the piece in parts of [`WRITE_BYTES`].
fn parts_of((offset, bytes): (u64, &[u8])) -> impl Iterator<Item = (u64, &[u8])> {
    (offset..).step_by(WRITE_BYTES).zip(bytes.chunks(WRITE_BYTES))
}

/// Writes the pieces, as many at the same time as [`IN_FLIGHT`] and [`IN_FLIGHT_BYTES`] allow, and
/// waits for all of them. Pieces that the kernel wrote only in part are completed one after the
/// other.
fn write_in_flight(
    ring: &mut io_uring::IoUring,
    file: &BufferedFile,
    pieces: &[(u64, &[u8])],
) -> io::Result<()> {
    let fd = io_uring::types::Fd(file.file.as_raw_fd());
    let mut written = vec![None; pieces.len()];
    let mut since = vec![0; pieces.len()];
    let (mut next, mut done, mut bytes_in_flight) = (0, 0, 0);
    while done < pieces.len() {
        while next < pieces.len() && next - done < IN_FLIGHT {
            let (offset, bytes) = pieces[next];
            if next > done && bytes_in_flight + bytes.len() > IN_FLIGHT_BYTES {
                break;
            }
            let entry = io_uring::opcode::Write::new(fd, bytes.as_ptr(), bytes.len() as u32)
                .offset(offset)
                .build()
                .user_data(next as u64);
            // SAFETY: descriptor and bytes live until this function returns, and it does not return
            // before the kernel is done with all entries (see below).
            unsafe { ring.submission().push(&entry) }
                .expect("the ring has as many entries as may be in flight");
            since[next] = ticks();
            bytes_in_flight += bytes.len();
            next += 1;
        }
        // The call returns when half of the writes are done. A call for each write would cost more
        // than it brings.
        match ring.submit_and_wait((next - done).div_ceil(2)) {
            Ok(_) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)) => {}
            // The kernel may still read the pieces, so their owner must not go on.
            Err(error) => panic!("io_uring_enter failed with writes in flight: {error}"),
        }
        for completion in ring.completion() {
            let number = completion.user_data() as usize;
            written[number] = Some(completion.result());
            file.used.note(Operation::Write, completion.result().max(0) as usize, since[number]);
            bytes_in_flight -= pieces[number].1.len();
            done += 1;
        }
    }
    for (&(offset, bytes), result) in pieces.iter().zip(written) {
        let result = result.unwrap_or(0);
        let done = match usize::try_from(result) {
            Ok(done) => done,
            Err(_) if matches!(-result, libc::EINTR | libc::EAGAIN) => 0,
            Err(_) => return Err(io::Error::from_raw_os_error(-result)),
        };
        if done < bytes.len() {
            // This is rare. It writes from the last aligned place on, which may write some bytes
            // twice.
            let from = done - done % IO_ALIGNMENT;
            file.file.write_all_at(&bytes[from..], offset + from as u64)?;
        }
    }
    Ok(())
}

/// Reads the pieces, up to [`READS_IN_FLIGHT`] at the same time, and waits for all of them. A piece
/// that the kernel read only in part, or not at all, is read again by itself.
fn read_in_flight(
    ring: &mut io_uring::IoUring,
    file: &BufferedFile,
    pieces: &mut [(u64, &mut [u8])],
    done: &mut dyn FnMut(usize, io::Result<&[u8]>),
) {
    let fd = io_uring::types::Fd(file.file.as_raw_fd());
    let (mut begun, mut ended) = (0, 0);
    let mut since = vec![0; pieces.len()];
    while ended < pieces.len() {
        while begun < pieces.len() && begun - ended < READS_IN_FLIGHT {
            let (offset, bytes) = &mut pieces[begun];
            let entry = io_uring::opcode::Read::new(fd, bytes.as_mut_ptr(), bytes.len() as u32)
                .offset(*offset)
                .build()
                .user_data(begun as u64);
            // SAFETY: descriptor and bytes live until this function returns, it does not return
            // before the kernel is done with all entries, and nobody touches a piece's bytes before
            // the kernel is done with them (see below).
            unsafe { ring.submission().push(&entry) }
                .expect("the ring has as many entries as may be in flight");
            since[begun] = ticks();
            begun += 1;
        }
        // The call returns with the first read that is done, because somebody may wait for its
        // page.
        match ring.submit_and_wait(1) {
            Ok(_) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)) => {}
            // The kernel may still write to the pieces, so their owner must not go on.
            Err(error) => panic!("io_uring_enter failed with reads in flight: {error}"),
        }
        for completion in ring.completion() {
            let number = completion.user_data() as usize;
            let (offset, bytes) = &mut pieces[number];
            let got = usize::try_from(completion.result()).unwrap_or(0);
            let read = if got == bytes.len() {
                file.used.note(Operation::Read, got, since[number]);
                Ok(got)
            } else {
                file.read_at(bytes, *offset)
            };
            done(number, read.map(|got| &bytes[..got]));
            ended += 1;
        }
        assert!(ended <= begun, "a read ends once");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Access, OpenMode, real};
    use super::*;
    use crate::random::Rng;

    fn opened(name: &str, access: Access) -> Option<std::sync::Arc<dyn File>> {
        let path = std::env::temp_dir().join(format!("slipstream-{name}-{:016x}", crate::random::u64()));
        match real().open_with(&path, OpenMode::OpenOrCreate, access) {
            Ok(file) => Some(file),
            // This file system has no direct I/O, so there is nothing to test.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => None,
            Err(error) => panic!("{error}"),
        }
    }

    fn removed(file: &dyn File) {
        real().remove(file.path()).expect("it is there");
    }

    #[test]
    fn what_is_written_directly_is_read_in_every_way() {
        for native_aio in [false, true] {
            let Some(file) = opened("direct", Access::Direct { native_aio }) else { return };
            let mut rng = Rng::new(1);
            let mut model = vec![0u8; 300 * 4096];
            file.write_all_at(&model, 0).expect("written");
            for round in 0..20 {
                let mut buffer = AlignedBuffer::zeroed(200 * 4096);
                buffer.copy_from_slice(&rng.bytes(200 * 4096));
                let mut at = 0;
                let mut pieces = Vec::new();
                while at < 190 {
                    let len = rng.between(1, 3) as usize;
                    // The pieces are not in order, and each place is written once.
                    pieces.push((((299 - at - len) * 4096) as u64, &buffer[at * 4096..(at + len) * 4096]));
                    at += len;
                }
                for &(offset, bytes) in &pieces[..if round % 2 == 1 { 3 } else { pieces.len() }] {
                    model[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
                }
                if round % 2 == 1 {
                    // One long piece among short ones, which is written in several parts.
                    pieces.truncate(3);
                    pieces.push((0, &buffer[..195 * 4096]));
                    model[..195 * 4096].copy_from_slice(&buffer[..195 * 4096]);
                }
                file.write_batch(&pieces).expect("written");
                file.write_all_at(&model[round * 4096..][..4096], round as u64 * 4096).expect("written");
            }
            file.sync_data().expect("synced");
            let mut found = vec![1u8; model.len() + 4096];
            assert_eq!(file.read_at(&mut found, 0).expect("read"), model.len());
            assert!(found[..model.len()] == model);
            assert!(real().read(file.path()).expect("read") == model);
            assert_eq!(
                file.write_all_at(&[0; 100], 0).expect_err("misaligned").kind(),
                io::ErrorKind::InvalidInput
            );
            removed(&*file);
        }
    }

    #[test]
    fn a_batch_of_reads_finds_what_single_reads_find() {
        for native_aio in [false, true] {
            let Some(file) = opened("direct-reads", Access::Direct { native_aio }) else { return };
            let mut rng = Rng::new(2);
            let content = rng.bytes(300 * 4096);
            let mut aligned = AlignedBuffer::zeroed(content.len());
            aligned.copy_from_slice(&content);
            file.write_all_at(&aligned, 0).expect("written");
            let mut buffer = AlignedBuffer::zeroed(200 * 4096);
            // The pieces have one to three blocks, and some lie in part or wholly behind the end.
            let (mut pieces, mut rest) = (Vec::new(), &mut buffer[..]);
            while rest.len() >= 3 * 4096 {
                let (piece, behind) = rest.split_at_mut(rng.between(1, 3) as usize * 4096);
                pieces.push((rng.between(0, 304) * 4096, piece));
                rest = behind;
            }
            let places: Vec<(usize, usize)> =
                pieces.iter().map(|(offset, bytes)| (*offset as usize, bytes.len())).collect();
            let mut found = vec![None; places.len()];
            file.read_batch(&mut pieces, &mut |number, read| {
                assert!(found[number].is_none(), "piece {number} came twice");
                found[number] = Some(read.expect("read").to_vec());
            });
            for ((offset, len), found) in places.into_iter().zip(found) {
                let end = content.len().min(offset + len);
                assert!(found.expect("every piece comes") == content[offset.min(end)..end]);
            }
            removed(&*file);
        }
    }

    #[test]
    fn a_batch_that_cannot_be_written_is_an_error() {
        let Some(file) = opened("direct-read", Access::Direct { native_aio: true }) else { return };
        let readonly = real().open_with(file.path(), OpenMode::Read, Access::Direct { native_aio: true });
        let readonly = readonly.expect("it opened before");
        let buffer = AlignedBuffer::zeroed(3 * 4096);
        let pieces: Vec<(u64, &[u8])> = (0..3).map(|at| (at * 4096, &buffer[..4096])).collect();
        let error = readonly.write_batch(&pieces).expect_err("opened for reading").to_string();
        assert!(error.contains("direct-read"), "{error}");
        removed(&*file);
    }

    #[test]
    fn a_promise_is_a_power_of_two_and_is_kept() {
        let Some(file) = opened("untorn", Access::Direct { native_aio: false }) else { return };
        let promised = file.untorn_bytes();
        if promised > 0 {
            assert!(promised.is_power_of_two());
            let mut buffer = AlignedBuffer::zeroed(promised);
            buffer.fill(7);
            file.write_untorn_at(&buffer, 0).expect("promised");
            assert!(real().read(file.path()).expect("read").iter().all(|&byte| byte == 7));
        }
        removed(&*file);
    }
}
