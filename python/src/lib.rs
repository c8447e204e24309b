//! The extension module `voxshell._core`.

mod arrays;
mod batch;
mod failure;
mod haptics;
mod picture;
mod query;
mod shape;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<shape::Shape>()?;
    module.add_class::<haptics::Haptics>()?;
    module.add_function(wrap_pyfunction!(query::contacts, module)?)?;
    module.add_function(wrap_pyfunction!(query::distance, module)?)?;
    module.add_function(wrap_pyfunction!(query::time_of_impact, module)?)?;
    module.add_function(wrap_pyfunction!(picture::plot, module)?)?;
    module.add("CONTACT", numpy::dtype::<arrays::Contact>(module.py()))?;
    module.add("HIT", numpy::dtype::<arrays::Hit>(module.py()))?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
