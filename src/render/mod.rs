//! Headless pictures: sphere-traced fields, so that what is shown is what collides.
