//! From hits to pixels: one light with soft shadows, a sky with ambient occlusion, and smooth edges.

use rayon::prelude::*;

use super::camera::Camera;
use super::image::Image;
use super::scene::Scene;
use super::trace::{Hit, Tracer};
use voxshell::math::Vec3;

/// Renders `scene` from `camera`, `width` × `height` pixels.
///
/// Runs on rayon's threads; the pixels do not depend on their number.
pub fn render(scene: &Scene, camera: &Camera, width: usize, height: usize) -> Image {
    let tracer = Tracer::new(scene);
    let aspect = width as f64 / height.max(1) as f64;
    let sample = |x: f64, y: f64| {
        let direction = camera.ray(x / width as f64, y / height as f64, aspect);
        let hit = tracer.first_hit(&camera.eye, &direction);
        let colour = colour(scene, &tracer, &direction, hit.as_ref());
        Sample { colour, id: hit.as_ref().map_or(u32::MAX, |h| h.id), normal: hit.map_or(direction, |h| h.normal) }
    };

    let mut rough: Vec<Sample> = Vec::new();
    (0..width * height)
        .into_par_iter()
        .with_min_len(width.max(1))
        .map(|i| sample((i % width) as f64 + 0.5, (i / width) as f64 + 0.5))
        .collect_into_vec(&mut rough);

    let n = scene.smoothing.max(1);
    let mut rgba = vec![255u8; 4 * width * height];
    rgba.par_chunks_exact_mut(4).with_min_len(width.max(1)).enumerate().for_each(|(i, pixel)| {
        let (x, y) = (i % width, i / width);
        let mut linear = rough[i].colour;
        if n > 1 && on_edge(&rough, width, height, x, y) {
            let mut sum = [0.0f32; 3];
            for k in 0..n * n {
                let offset = |j: u32| (f64::from(j) + 0.5) / f64::from(n);
                let s = sample(x as f64 + offset(k % n), y as f64 + offset(k / n));
                (0..3).for_each(|c| sum[c] += s.colour[c]);
            }
            linear = sum.map(|c| c / (n * n) as f32);
        }
        (0..3).for_each(|c| pixel[c] = (to_srgb(linear[c]) * 255.0 + 0.5) as u8);
    });
    Image { width, height, rgba }
}

/// Result of one ray; the colour is linear.
#[derive(Clone, Copy)]
struct Sample {
    colour: [f32; 3],
    id: u32,
    normal: Vec3,
}

/// Returns true if the pixel shows another object than a neighbour.
fn on_edge(samples: &[Sample], width: usize, height: usize, x: usize, y: usize) -> bool {
    let here = &samples[y * width + x];
    let differs = |x: usize, y: usize| {
        let there = &samples[y * width + x];
        let contrast = (0..3).map(|c| (here.colour[c].sqrt() - there.colour[c].sqrt()).abs()).fold(0.0, f32::max);
        here.id != there.id || here.normal.dot(&there.normal) < 0.8 || contrast > 0.06
    };
    (x > 0 && differs(x - 1, y))
        || (y > 0 && differs(x, y - 1))
        || (x + 1 < width && differs(x + 1, y))
        || (y + 1 < height && differs(x, y + 1))
}

fn colour(scene: &Scene, tracer: &Tracer, direction: &Vec3, hit: Option<&Hit>) -> [f32; 3] {
    let horizon = scene.sky[0].map(to_linear);
    let Some(hit) = hit else {
        let zenith = scene.sky[1].map(to_linear);
        let height = scene.up.dot(direction).clamp(0.0, 1.0).sqrt() as f32;
        return mix(horizon, zenith, height);
    };
    let base = hit.colour.map(to_linear);
    let facing = hit.normal.dot(&scene.light).max(0.0) as f32;
    let sun = if facing > 0.0 { facing * tracer.light(&hit.point, &hit.normal, hit.tiny) } else { 0.0 };
    let is_ground = hit.id as usize == scene.objects.len();
    let reach = if is_ground { 0.35 } else { (hit.tiny * 700.0).min(0.35) };
    let sky = tracer.sky(&hit.point, &hit.normal, reach);
    // The sky is brighter than the ground below: light from above counts for more.
    let above = 0.5 + 0.5 * scene.up.dot(&hit.normal) as f32;
    let ambient = sky * (0.26 + 0.30 * above);
    // A broad highlight (Blinn) lets the eye see the curvature.
    let half = (scene.light - direction).normalize();
    let shine = if is_ground { 0.0 } else { 0.18 * sun * (hit.normal.dot(&half).max(0.0) as f32).powi(40) };
    let rim =
        if is_ground { 0.0 } else { 0.10 * sky * (1.0 + hit.normal.dot(direction) as f32).clamp(0.0, 1.0).powi(3) };
    let lit = [0, 1, 2].map(|c| base[c] * (ambient + 0.78 * sun) + shine + rim);
    if !is_ground {
        return lit;
    }
    let fade = (hit.t / scene.fade) as f32;
    mix(lit, horizon, 1.0 - (-std::f32::consts::LN_2 * fade * fade).exp())
}

fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t)
}

fn to_linear(c: f32) -> f32 {
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

/// Converts linear light to sRGB, 0..1, with a soft shoulder so that highlights do not clip.
fn to_srgb(c: f32) -> f32 {
    let c = if c > 0.8 { 0.8 + 0.2 * (1.0 - (-(c - 0.8) / 0.2).exp()) } else { c.max(0.0) };
    if c <= 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    }
}
