//! Other libraries to compare with. Those in C++ are small programs in `benches/peers`, compiled on first use. They
//! read meshes and points from files and take one command per line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use clap::ValueEnum;
use serde_json::Value;
use tempfile::TempDir;
use voxshell::math::Vec3;
use voxshell::mesh::TriMesh;
use voxshell::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// The Rust crate parry3d: projection on meshes, rays.
    Parry,
    /// OpenVDB, if installed: level sets from meshes, rays through them.
    Openvdb,
    /// Embree, if installed: rays against meshes.
    Embree,
    /// DAQP, if installed: quadratic programs.
    Daqp,
    /// eiquadprog, if installed: quadratic programs.
    Eiquadprog,
}

struct Source {
    name: &'static str,
    text: &'static str,
    libraries: &'static [&'static str],
    /// Packages of Debian and Ubuntu.
    packages: &'static str,
}

const HEADER: &str = include_str!("../../../benches/peers/peer.hpp");
const OPENVDB: Source = Source {
    name: "openvdb",
    text: include_str!("../../../benches/peers/openvdb.cpp"),
    libraries: &["-lopenvdb", "-ltbb"],
    packages: "libopenvdb-dev libboost-dev",
};
const EMBREE: Source = Source {
    name: "embree",
    text: include_str!("../../../benches/peers/embree.cpp"),
    libraries: &["-lembree3"],
    packages: "libembree-dev",
};
const DAQP: Source = Source {
    name: "daqp",
    text: include_str!("../../../benches/peers/daqp.cpp"),
    libraries: &["-ldaqp"],
    packages: "and install https://github.com/darnstrom/daqp with CMake",
};
const EIQUADPROG: Source = Source {
    name: "eiquadprog",
    text: include_str!("../../../benches/peers/eiquadprog.cpp"),
    libraries: &["-I/usr/include/eigen3", "-leiquadprog"],
    packages: "libeigen3-dev, and install https://github.com/stack-of-tasks/eiquadprog with CMake",
};
/// Flags that give the peers their best performance.
const FLAGS: [&str; 4] = ["-std=c++17", "-O3", "-DNDEBUG", "-march=native"];

/// Folder of the files that the programs read.
pub struct Files(TempDir);

impl Files {
    /// The folder without a file.
    pub fn empty() -> Result<Self> {
        tempfile::tempdir().map(Self).map_err(|source| Error::Io { path: std::env::temp_dir(), source })
    }

    /// The folder with a mesh, whose extent is in metres.
    pub fn new(mesh: &TriMesh) -> Result<Self> {
        let files = Self::empty()?;
        let vertices = mesh.vertices.iter().flat_map(|v| v.map(|x| (x as f32).to_ne_bytes())).flatten();
        files.write("vertices", vertices)?;
        files.write("triangles", mesh.triangles.iter().flat_map(|t| t.map(u32::to_ne_bytes)).flatten())?;
        Ok(files)
    }

    /// Writes pairs of points, metres.
    pub fn write_segments(&self, ends: impl Iterator<Item = [Vec3; 2]>) -> Result<()> {
        let bytes = ends.flatten().flat_map(|p| [p.x, p.y, p.z].map(|x| (x as f32).to_ne_bytes())).flatten();
        self.write("segments", bytes)
    }

    /// Writes nodes of a grid.
    pub fn write_nodes(&self, nodes: &[[u32; 3]]) -> Result<()> {
        self.write("nodes", nodes.iter().flat_map(|n| n.map(|i| (i as i32).to_ne_bytes())).flatten())
    }

    /// Writes numbers.
    pub fn write_numbers(&self, name: &str, numbers: impl Iterator<Item = f64>) -> Result<()> {
        self.write(name, numbers.flat_map(f64::to_ne_bytes))
    }

    pub fn read_numbers(&self, name: &str) -> Result<Vec<f64>> {
        let path = self.0.path().join(name);
        let bytes = std::fs::read(&path).map_err(|source| Error::Io { path, source })?;
        Ok(bytes.chunks_exact(8).map(|b| f64::from_ne_bytes(std::array::from_fn(|i| b[i]))).collect())
    }

    pub fn read_values(&self) -> Result<Vec<f32>> {
        let path = self.0.path().join("values");
        let bytes = std::fs::read(&path).map_err(|source| Error::Io { path, source })?;
        Ok(bytes.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect())
    }

    fn write(&self, name: &str, bytes: impl Iterator<Item = u8>) -> Result<()> {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes.collect::<Vec<u8>>()).map_err(|source| Error::Io { path, source })
    }
}

/// The running program of a peer.
pub struct Program {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Name and version of the library.
    pub name: String,
}

impl Program {
    /// Starts a peer. `None` if it is not a program or not installed; the latter is reported on standard error.
    pub fn start(peer: Peer, files: &Files) -> Result<Option<Self>> {
        let source = match peer {
            Peer::Parry => return Ok(None),
            Peer::Openvdb => &OPENVDB,
            Peer::Embree => &EMBREE,
            Peer::Daqp => &DAQP,
            Peer::Eiquadprog => &EIQUADPROG,
        };
        let path = match cache().map(|folder| folder.join(source.file_name())) {
            Some(path) => path,
            None => files.0.path().join(source.name),
        };
        // A program compiled for another machine, or for a removed library, does not answer.
        let running = path.exists().then(|| Self::run(&path, files).ok()).flatten();
        let program = match running {
            Some(program) => program,
            None => {
                eprintln!("compiling benches/peers/{}.cpp, once", source.name);
                if let Err(reason) = source.compile(&path) {
                    eprintln!(
                        "{} is not measured beside: {reason}\n  on Debian and Ubuntu: apt install g++ {}",
                        source.name, source.packages
                    );
                    return Ok(None);
                }
                Self::run(&path, files)?
            }
        };
        Ok(Some(program))
    }

    fn run(path: &Path, files: &Files) -> Result<Self> {
        let io = |source| Error::Io { path: path.into(), source };
        let mut command = Command::new(path);
        let mut child =
            command.current_dir(files.0.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(io)?;
        let (Some(commands), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Unsupported("a peer without pipes".into()));
        };
        let mut program =
            Self { child, commands: Some(commands), answers: BufReader::new(answers), name: String::new() };
        let answer = program.ask("version")?;
        program.name = answer["version"].as_str().unwrap_or_default().into();
        Ok(program)
    }

    /// Sends a command; returns the answer, a JSON object.
    pub fn ask(&mut self, command: &str) -> Result<Value> {
        let failed = |reason: String| Error::Unsupported(format!("peer, asked to {command}: {reason}"));
        let mut answer = String::new();
        let commands = self.commands.as_mut().ok_or_else(|| failed("it has been stopped".into()))?;
        writeln!(commands, "{command}")
            .and_then(|()| commands.flush())
            .and_then(|()| self.answers.read_line(&mut answer))
            .map_err(|e| failed(e.to_string()))?;
        serde_json::from_str(&answer).map_err(|e| failed(format!("{e} in {answer:?}")))
    }

    /// Returns one number of the answer.
    pub fn ask_number(&mut self, command: &str, key: &str) -> Result<f64> {
        let answer = self.ask(command)?;
        answer[key].as_f64().ok_or_else(|| Error::Unsupported(format!("peer: no {key} in {answer}")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The program ends with its input.
        drop(self.commands.take());
        let _ = self.child.wait();
    }
}

impl Source {
    /// Returns a file name that changes with the source text.
    fn file_name(&self) -> String {
        let all = format!("{HEADER}{}{FLAGS:?}{:?}", self.text, self.libraries);
        format!("{}-{:08x}", self.name, crc32fast::hash(all.as_bytes()))
    }

    /// Compiles the program; an error is the compiler's message.
    fn compile(&self, to: &Path) -> std::result::Result<(), String> {
        let say = |e: std::io::Error| e.to_string();
        let folder = tempfile::tempdir().map_err(say)?;
        let text = folder.path().join("peer.cpp");
        std::fs::write(folder.path().join("peer.hpp"), HEADER).map_err(say)?;
        std::fs::write(&text, self.text).map_err(say)?;
        let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let program = folder.path().join(self.name);
        let mut command = Command::new(&compiler);
        command.args(FLAGS).arg("-o").arg(&program).arg(&text).args(self.libraries);
        let output = command.output().map_err(|e| format!("{}: {e}", compiler.to_string_lossy()))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(text.lines().find(|l| l.contains("error")).unwrap_or("the compiler failed").to_owned());
        }
        // Written under a temporary name, because another run may write the same file.
        let parent = to.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(say)?;
        let mut file = tempfile::NamedTempFile::new_in(parent).map_err(say)?;
        std::io::copy(&mut std::fs::File::open(&program).map_err(say)?, &mut file).map_err(say)?;
        let permissions = std::fs::metadata(&program).map_err(say)?.permissions();
        std::fs::set_permissions(file.path(), permissions).map_err(say)?;
        file.persist(to).map_err(|e| e.to_string())?;
        Ok(())
    }
}

/// Returns the user's own cache folder; programs in it are executed, so it must belong to the user.
fn cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(folder.join("voxshell").join("peers"))
}
