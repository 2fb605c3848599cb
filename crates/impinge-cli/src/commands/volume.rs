//! `impinge volume`: how much two solids overlap.

use std::io::Write;

use impinge::VolumeOptions;

use super::volume_files::{GradientFile, MeshFile};
use crate::answer::Answer;
use crate::args::{Common, Volume};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::Found;
use crate::{ask, commands};

/// Measures.
pub fn run(args: &Volume, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let gradient_file = args.gradient.as_deref().map(GradientFile::new).transpose()?;
    let mesh_file = args.mesh.as_deref().map(MeshFile::new).transpose()?;
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let bodies @ [a, b] = commands::place(&args.two, &shapes);
    let options = VolumeOptions {
        gradient: gradient_file.is_some(),
        border: mesh_file.is_some(),
        ..VolumeOptions::default()
    };
    let (answer, measured) = ask::volume(common.settings().query(), a, b, options)?;
    if let Some(measured) = &measured {
        if let Some(file) = gradient_file {
            file.write(bodies, &measured.gradient)?;
        }
        if let Some(file) = mesh_file {
            file.write(measured)?;
        }
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
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
