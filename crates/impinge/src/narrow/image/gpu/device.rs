//! A graphics processor with the kernels of `images.wgsl`, and what is sent to it and read back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::{Pod, Zeroable};
use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType,
    Buffer, BufferBindingType, BufferDescriptor, BufferUsages, CommandEncoderDescriptor,
    ComputePassDescriptor, ComputePipeline, ComputePipelineDescriptor, DeviceDescriptor, Instance,
    InstanceDescriptor, MapMode, PipelineLayoutDescriptor, PollType, RequestAdapterOptions, ShaderStages,
};

use super::super::lattice::Lattice;
use super::triangles::{Drawing, NONE};
use crate::num::tolerance::{GPU_LAYER_ROUNDING, GPU_SAME_PLACE};

/// Invocations of a workgroup in every kernel, and the most workgroups along one side of a dispatch.
const GROUP: u32 = 64;
const MOST_GROUPS: u32 = 65_535;

/// A graphics processor, ready to draw.
#[derive(Debug)]
pub struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    /// count, place, fill, measure, sum_rows.
    kernels: [ComputePipeline; 5],
    /// Whether anything went wrong since the device was found.
    failed: Arc<AtomicBool>,
    name: String,
}

/// Some rows of an image.
#[derive(Debug, Clone, Copy)]
pub struct Band<'d> {
    pub drawing: &'d Drawing,
    pub first_row: u32,
    pub rows: u32,
    /// Layers at most, without those given.
    pub layers: u64,
    /// Which component of the gradient it adds to.
    pub component: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Frame {
    pixels: u32,
    shift: u32,
    first_row: u32,
    rows: u32,
    items: u32,
    given: u32,
    component: u32,
    rounding: i32,
    stride: u32,
    same: i32,
    unused: [u32; 2],
}

impl<'d> Band<'d> {
    /// One row.
    pub fn of(drawing: &'d Drawing, first_row: u32, layers: u64) -> Band<'d> {
        Band { drawing, first_row, rows: 1, layers, component: NONE }
    }
}

impl Device {
    /// The best device there is, or why there is none.
    pub fn find() -> Result<Device, String> {
        let instance = Instance::new(&InstanceDescriptor::default());
        let adapter = pollster::block_on(instance.request_adapter(&RequestAdapterOptions::default()))
            .map_err(|e| e.to_string())?;
        let limits =
            wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..DeviceDescriptor::default() };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&limits)).map_err(|e| e.to_string())?;
        let failed = Arc::new(AtomicBool::new(false));
        let noted = failed.clone();
        device.on_uncaptured_error(Arc::new(move |_: wgpu::Error| noted.store(true, Ordering::Relaxed)));
        let layout = layout(&device);
        let kernels = kernels(&device, &layout);
        let info = adapter.get_info();
        if failed.load(Ordering::Relaxed) {
            return Err(format!("{} does not take the kernels", info.name));
        }
        Ok(Device { device, queue, layout, kernels, failed, name: info.name })
    }

    /// What it calls itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A buffer that holds some numbers; `None` where it is too large.
    pub fn upload<T: Pod>(&self, values: &[T]) -> Option<Buffer> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        // Without anything there is still a binding, as large as one element.
        let size = bytes.len().max(size_of::<T>());
        let buffer = self.buffer(size as u64, BufferUsages::STORAGE | BufferUsages::COPY_DST)?;
        if !bytes.is_empty() {
            self.queue.write_buffer(&buffer, 0, bytes);
        }
        Some(buffer)
    }

    /// A buffer of so many words that are zero.
    pub fn zeros(&self, words: usize) -> Option<Buffer> {
        self.buffer(4 * words as u64, BufferUsages::STORAGE | BufferUsages::COPY_SRC)
    }

    fn buffer(&self, size: u64, usage: BufferUsages) -> Option<Buffer> {
        let limits = self.device.limits();
        let most = limits.max_buffer_size.min(u64::from(limits.max_storage_buffer_binding_size));
        let descriptor = BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        (size <= most).then(|| self.device.create_buffer(&descriptor))
    }

    /// Draws and measures a band; low and high word of the sum of each row, the bits of its squares, and what
    /// it tells of the border.
    pub fn run(
        &self,
        lattice: &Lattice,
        band: &Band<'_>,
        triangles: &Buffer,
        gradient: &Buffer,
    ) -> Option<Vec<[u32; 4]>> {
        let Band { drawing, first_row, rows, layers, component } = *band;
        let columns = rows * lattice.pixels;
        let [from, to] = [first_row, first_row + rows].map(|row| drawing.row_items[row as usize] as usize);
        let offsets = (first_row..first_row + rows).map(|row| [lattice.offset(row).cast_unsigned(), 0]);
        let items: Vec<[u32; 2]> = offsets.chain(drawing.items[from..to].iter().copied()).collect();
        let crossed = (to - from) as u32;
        let before = first_row * lattice.pixels;
        let [from, to] = [before, before + columns].map(|c| drawing.given.partition_point(|g| g.column < c));
        let mut given = drawing.given[from..to].to_vec();
        given.iter_mut().for_each(|layer| layer.column -= before);
        let drawn = crossed + given.len() as u32;
        let invocations = columns.max(drawn);
        let wide = invocations.div_ceil(GROUP).clamp(1, MOST_GROUPS);
        let frame = Frame {
            pixels: lattice.pixels,
            shift: lattice.shift,
            first_row,
            rows,
            items: crossed,
            given: given.len() as u32,
            component,
            rounding: GPU_LAYER_ROUNDING,
            stride: wide * GROUP,
            same: GPU_SAME_PLACE,
            unused: [0; 2],
        };
        let uniform =
            self.buffer(size_of::<Frame>() as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST)?;
        self.queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&frame));
        let room = usize::try_from(layers).ok()? + given.len();
        let sums = self.zeros((2 * columns + 4 * rows) as usize)?;
        let buffers = [
            &uniform,
            triangles,
            &self.upload(&items)?,
            &self.upload(&given)?,
            &self.zeros(columns as usize + 1)?,
            &self.zeros(2 * columns as usize)?,
            &self.zeros(2 * room.max(1))?,
            &sums,
            gradient,
        ];
        let entries: Vec<BindGroupEntry<'_>> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = BindGroupDescriptor { label: None, layout: &self.layout, entries: &entries };
        let group = self.device.create_bind_group(&group);
        let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            pass.set_bind_group(0, &group, &[]);
            for (kernel, count) in self.kernels.iter().zip([drawn, columns, drawn, columns, rows]) {
                let groups = count.div_ceil(GROUP);
                if groups > 0 {
                    pass.set_pipeline(kernel);
                    pass.dispatch_workgroups(groups.min(wide), groups.div_ceil(wide), 1);
                }
            }
        }
        self.queue.submit([encoder.finish()]);
        let words = self.read(&sums, 2 * columns as usize, 4 * rows as usize)?;
        Some(words.as_chunks().0.to_vec())
    }

    /// Words of a buffer, once everything before is done; `None` after any failure.
    pub fn read(&self, buffer: &Buffer, first: usize, words: usize) -> Option<Vec<u32>> {
        if words == 0 {
            return Some(Vec::new());
        }
        let size = 4 * words as u64;
        let copy = self.buffer(size, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
        let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 4 * first as u64, &copy, 0, size);
        self.queue.submit([encoder.finish()]);
        let (mapped, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (set_mapped, set_done) = (mapped.clone(), done.clone());
        copy.map_async(MapMode::Read, .., move |result| {
            set_mapped.store(result.is_ok(), Ordering::Release);
            set_done.store(true, Ordering::Release);
        });
        self.device.poll(PollType::wait_indefinitely()).ok()?;
        let sound = mapped.load(Ordering::Acquire) && !self.failed.load(Ordering::Relaxed);
        if !(done.load(Ordering::Acquire) && sound) {
            return None;
        }
        let found = bytemuck::cast_slice(&copy.get_mapped_range(..)).to_vec();
        copy.unmap();
        Some(found)
    }
}

/// A uniform, and eight buffers that the kernels share.
fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding: u32| {
        let ty = match binding {
            0 => BufferBindingType::Uniform,
            1..=3 => BufferBindingType::Storage { read_only: true },
            _ => BufferBindingType::Storage { read_only: false },
        };
        BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        }
    };
    let entries: Vec<BindGroupLayoutEntry> = (0..9).map(entry).collect();
    device.create_bind_group_layout(&BindGroupLayoutDescriptor { label: None, entries: &entries })
}

fn kernels(device: &wgpu::Device, layout: &wgpu::BindGroupLayout) -> [ComputePipeline; 5] {
    let module = device.create_shader_module(wgpu::include_wgsl!("images.wgsl"));
    let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[layout],
        push_constant_ranges: &[],
    });
    ["count", "place", "fill", "measure", "sum_rows"].map(|name| {
        device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(name),
            compilation_options: Default::default(),
            cache: None,
        })
    })
}
