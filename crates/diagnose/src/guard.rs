//! What something requires and excludes: the first that is not so ends it.

pub(crate) fn require(is_so: bool) -> Option<()> {
    is_so.then_some(())
}

pub(crate) fn exclude(is_so: bool) -> Option<()> {
    require(!is_so)
}
