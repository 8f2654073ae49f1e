//! `auto.cnf`: the server's UUID, which is made at the first start and kept.

use binlog::gtid::Uuid;
use os::disk::Disk;
use std::io;
use std::path::Path;

/// Reads the server's UUID, or makes one and stores it.
///
/// # Errors
/// Returns an error when the file holds no UUID, or cannot be read or written.
pub fn server_uuid(disk: &dyn Disk, datadir: &Path) -> io::Result<Uuid> {
    let path = datadir.join("auto.cnf");
    if disk.exists(&path)? {
        let bytes = disk.read(&path)?;
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().find(|l| l.trim().replace('-', "_").starts_with("server_uuid"));
        let uuid = line.and_then(|l| l.split_once('=')).and_then(|(_, v)| v.trim().parse().ok());
        let damaged = || {
            let text = format!(
                "{}: the file is damaged: no server-uuid is in it. Put the file back with the line 'server-uuid=' and the UUID that \
                 replicas and earlier logs show for this server, or remove it: the server then takes a new UUID, as a new server would",
                path.display()
            );
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        return uuid.ok_or_else(damaged);
    }
    let mut random = [0; 16];
    os::random::fill(&mut random);
    let uuid = Uuid::from_random(random);
    disk.write_atomically(&path, format!("[auto]\nserver-uuid={uuid}\n").as_bytes())?;
    Ok(uuid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uuid_stays() {
        let disk = os::sim::SimDisk::new(1);
        let dir = Path::new("/data");
        disk.create_dir_all(dir).unwrap();
        let first = server_uuid(&disk, dir).unwrap();
        assert_eq!(server_uuid(&disk, dir).unwrap(), first);
        disk.write_atomically(&dir.join("auto.cnf"), b"[auto]\nserver-uuid=nonsense\n").unwrap();
        assert!(server_uuid(&disk, dir).is_err());
    }
}
