//! Keeping rule documents: versions, jobs, index generations
