// SPDX-License-Identifier: Apache-2.0
// gimli-frames OBJECT - what addr2frames -n does, by Rust's addr2line: hexadecimal
// addresses on stdin; of each, function, file and line of all frames are looked up.
use addr2line::gimli::{Dwarf, EndianSlice, Error, LittleEndian, SectionId};
use object::{Object, ObjectSection};
use std::io::BufRead;

fn main() {
    let path = std::env::args().nth(1).expect("an object");
    let file = std::fs::File::open(path).expect("the object");
    let map = unsafe { memmap2::Mmap::map(&file) }.expect("a mapping");
    let object = object::File::parse(&*map).expect("an ELF file");
    let dwarf = Dwarf::load(|id: SectionId| -> Result<_, Error> {
        let section = object.section_by_name(id.name());
        let bytes = section.and_then(|s| s.data().ok()).unwrap_or(&[]);
        Ok(EndianSlice::new(bytes, LittleEndian))
    });
    let context = addr2line::Context::from_dwarf(dwarf.expect("sections")).expect("units");
    let mut bytes = 0;

    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let address = u64::from_str_radix(line.trim_start_matches("0x"), 16).expect("a number");
        let Ok(mut frames) = context.find_frames(address) else { continue };
        while let Ok(Some(frame)) = frames.next() {
            if let Some(name) = frame.function.as_ref().and_then(|f| f.raw_name().ok()) {
                bytes += name.len();
            }
            if let Some(place) = frame.location {
                bytes += place.file.map_or(0, str::len) + place.line.unwrap_or(0) as usize;
            }
        }
    }
    println!("{bytes}");
}
