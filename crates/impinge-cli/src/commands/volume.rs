//! `impinge volume`: how much two solids overlap.

use std::io::Write;
use std::path::Path;

use glam::DVec3;
use impinge::VolumeOptions;

use crate::answer::Answer;
use crate::args::{Common, Volume};
use crate::ask::Slopes;
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::Found;
use crate::output::PartialFile;
use crate::{ask, commands};

/// Measures.
pub fn run(args: &Volume, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &shapes);
    let options = VolumeOptions { gradient: args.gradient.is_some(), ..VolumeOptions::default() };
    let (answer, slopes) = ask::volume(common.settings().query(), a, b, options)?;
    if let (Some(path), Some(slopes)) = (&args.gradient, &slopes) {
        write_gradient(path, slopes)?;
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

/// One row for each vertex of both bodies.
fn write_gradient(path: &Path, slopes: &Slopes) -> Result<(), Failure> {
    let mut file = PartialFile::create(path)?;
    file.write(|out| writeln!(out, "body,vertex,x,y,z"))?;
    for (body, slopes) in ["a", "b"].into_iter().zip(slopes) {
        for (vertex, DVec3 { x, y, z }) in slopes.iter().enumerate() {
            file.write(|out| writeln!(out, "{body},{vertex},{x:?},{y:?},{z:?}"))?;
        }
    }
    file.finish()
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Volume(found) = &answer.found else { return Ok(()) };
    let (Some(volume), Some(error)) = (found.volume, found.volume_error) else {
        return writeln!(out, "undecided");
    };
    writeln!(out, "{volume:?} (error about {error:.1e})")?;
    for (number, patch) in found.patches.iter().enumerate() {
        let [x, y, z] = patch.centroid;
        write!(out, "{number:>4}  volume {:?} about {x:?},{y:?},{z:?}", patch.volume)?;
        match patch.normal {
            Some([x, y, z]) => {
                writeln!(out, ", {:?} deep along {x:?},{y:?},{z:?}, area {:?}", patch.depth, patch.area)?;
            }
            None => writeln!(out, ", in no direction less")?,
        }
    }
    Ok(())
}
