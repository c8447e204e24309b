//! Rows, tables, plots, films and pages of the laboratory and the Bullet demo.
//!
//! | module | content |
//! | --- | --- |
//! | `clock`, `row` | timing that is robust on a busy machine; rows of figures as JSON and as tables |
//! | `table`, `report` | tables; pages, plots and films |

pub mod clock;
pub mod report;
pub mod row;
pub mod table;
