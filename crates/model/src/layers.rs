//! The layers of a storage path as a tree: a RAID stands on its disks, each of them on its link, that on its controller.

use crate::{Fact, Layer, LayerKind};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// The fact of a layer that says in JSON how deep it lies, 0 at the top. In memory the tree says it.
pub const BRANCH_DEPTH: &str = "branch_depth";

/// Layers, each before those that it stands on, branch after branch: a slice of them, and where in the tree each has its place. What several
/// branches stand on is in the first of them. The machine, and what simulates one, stand beside the tree.
///
/// In JSON it is a list in which the fact [`BRANCH_DEPTH`] says where a layer is: its parent is the nearest earlier one that has less.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Layer>", into = "Vec<Layer>")]
pub struct Layers {
    layers: Vec<Layer>,
    /// How deep each lies; as long as `layers`.
    depths: Vec<u32>,
}

impl Layers {
    /// Adds one below the last one that lies less deep; at the top with 0.
    pub fn push(&mut self, layer: Layer, depth: u32) {
        let deepest = self.depths.last().map_or(0, |last| last + 1);
        self.layers.push(layer);
        self.depths.push(depth.min(deepest));
    }

    /// Puts one between the layer at this place and what stands on it.
    pub fn insert_above(&mut self, at: usize, layer: Layer) {
        let end = self.end(at);
        let depth = self.depths[at];
        self.depths[at..end].iter_mut().for_each(|depth| *depth += 1);
        self.layers.insert(at, layer);
        self.depths.insert(at, depth);
    }

    /// Puts one beside the layer at this place, behind all that it stands on.
    pub fn insert_sibling(&mut self, at: usize, layer: Layer) {
        let end = self.end(at);
        let depth = self.depths[at];
        self.layers.insert(end, layer);
        self.depths.insert(end, depth);
    }

    /// Leaves out those that `kept` does not keep; what they stood on takes their place.
    pub fn retain(&mut self, kept: impl Fn(&Layer) -> bool) {
        while let Some(at) = self.layers.iter().position(|layer| !kept(layer)) {
            let end = self.end(at);
            self.depths[at..end].iter_mut().for_each(|depth| *depth = depth.saturating_sub(1));
            self.layers.remove(at);
            self.depths.remove(at);
        }
    }

    /// Where what the layer at this place stands on ends.
    fn end(&self, at: usize) -> usize {
        let beside = |depth: &u32| *depth <= self.depths[at];
        self.depths[at + 1..].iter().position(beside).map_or(self.len(), |more| at + 1 + more)
    }

    /// All that the layer at this place stands on, directly or not.
    pub fn below(&self, at: usize) -> &[Layer] {
        &self.layers[at + 1..self.end(at)]
    }

    /// What stands on the layer at this place, if something does.
    pub fn above(&self, at: usize) -> Option<usize> {
        self.depths[..at].iter().rposition(|depth| *depth < self.depths[at])
    }

    /// How deep the layer at this place lies, 0 at the top; `None` of one beside the tree.
    pub fn depth(&self, at: usize) -> Option<u32> {
        (!is_sibling(&self.layers[at])).then(|| self.depths[at])
    }

    /// What stands on the layer at this place and on others beside it: `md0` of its disks.
    pub fn branches_from(&self, at: usize) -> Option<&Layer> {
        let above = self.above(at)?;
        let beside = (above + 1..self.end(above)).filter(|other| self.depths[*other] == self.depths[at]);
        (beside.count() > 1).then(|| &self.layers[above])
    }

    /// Layers of which only the kind says where they belong: each stands below the nearest earlier one of a kind that is usually higher.
    fn by_kind(layers: Vec<Layer>) -> Self {
        let mut above: Vec<LayerKind> = Vec::new();
        let mut tree = Self::default();
        for layer in layers {
            above.retain(|kind| *kind < layer.kind && !is_sibling(&layer));
            tree.depths.push(above.len() as u32);
            above.push(layer.kind);
            tree.layers.push(layer);
        }
        tree
    }
}

/// Whether it is no part of the tree.
fn is_sibling(layer: &Layer) -> bool {
    matches!(layer.kind, LayerKind::Host | LayerKind::Sim)
}

impl Deref for Layers {
    type Target = [Layer];

    fn deref(&self) -> &[Layer] {
        &self.layers
    }
}

impl DerefMut for Layers {
    fn deref_mut(&mut self) -> &mut [Layer] {
        &mut self.layers
    }
}

impl<'a> IntoIterator for &'a Layers {
    type Item = &'a Layer;
    type IntoIter = std::slice::Iter<'a, Layer>;

    fn into_iter(self) -> Self::IntoIter {
        self.layers.iter()
    }
}

impl<'a> IntoIterator for &'a mut Layers {
    type Item = &'a mut Layer;
    type IntoIter = std::slice::IterMut<'a, Layer>;

    fn into_iter(self) -> Self::IntoIter {
        self.layers.iter_mut()
    }
}

/// By their fact [`BRANCH_DEPTH`], which is taken from them; where none has it, by their kinds.
impl From<Vec<Layer>> for Layers {
    fn from(mut layers: Vec<Layer>) -> Self {
        let depth = |layer: &mut Layer| layer.facts.remove(BRANCH_DEPTH).as_ref().and_then(Fact::int);
        let depths: Vec<Option<u32>> =
            layers.iter_mut().map(|l| depth(l).map(|d| u32::try_from(d).unwrap_or(0))).collect();
        if depths.iter().all(Option::is_none) {
            return Self::by_kind(layers);
        }
        let mut tree = Self::default();
        layers.into_iter().zip(depths).for_each(|(layer, depth)| tree.push(layer, depth.unwrap_or(0)));
        tree
    }
}

impl From<Layers> for Vec<Layer> {
    fn from(tree: Layers) -> Self {
        let depths: Vec<Option<u32>> = (0..tree.len()).map(|at| tree.depth(at)).collect();
        let with_depth = |(mut layer, depth): (Layer, Option<u32>)| {
            if let Some(depth) = depth {
                layer.set(BRANCH_DEPTH, depth);
            }
            layer
        };
        tree.layers.into_iter().zip(depths).map(with_depth).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LayerKind::{Controller, Disk, Dm, Filesystem, Host, Link, Md, Partition};

    fn layers(kinds: &[(LayerKind, &str)]) -> Vec<Layer> {
        kinds.iter().map(|(kind, name)| Layer::new(*kind, *name)).collect()
    }

    fn names(layers: &[Layer]) -> Vec<&str> {
        layers.iter().map(|l| l.name.as_str()).collect()
    }

    /// A file system on a mirror of two disks, each with its link.
    fn mirror() -> Layers {
        let all = [(Filesystem, "ext4"), (Md, "md0"), (Disk, "sda"), (Link, "ata1"), (Disk, "sdb"), (Link, "ata2")];
        let mut tree = Layers::default();
        layers(&all).into_iter().zip([0, 1, 2, 3, 2, 3]).for_each(|(layer, depth)| tree.push(layer, depth));
        tree.push(Layer::new(Host, "board"), 0);
        tree
    }

    #[test]
    fn each_branch_has_what_it_stands_on() {
        let tree = mirror();
        assert_eq!(names(tree.below(1)), ["sda", "ata1", "sdb", "ata2"]);
        assert_eq!(
            [names(tree.below(2)), names(tree.below(4)), names(tree.below(6))],
            [vec!["ata1"], vec!["ata2"], vec![]]
        );
        let above = |at| tree.above(at).map(|at| tree[at].name.as_str());
        assert_eq!(
            [above(0), above(2), above(4), above(5), above(6)],
            [None, Some("md0"), Some("md0"), Some("sdb"), None]
        );
        assert_eq!([tree.depth(3), tree.depth(4), tree.depth(6)], [Some(3), Some(2), None]);
        let branches: Vec<Option<&str>> = (0..7).map(|at| tree.branches_from(at).map(|l| l.name.as_str())).collect();
        assert_eq!(branches, [None, None, Some("md0"), None, Some("md0"), None, None]);
    }

    #[test]
    fn json_is_a_list_with_depths_and_comes_back_as_it_was() {
        let tree = mirror();
        let list = serde_json::to_value(&tree).unwrap();
        let depths: Vec<&serde_json::Value> =
            list.as_array().unwrap().iter().map(|l| &l["facts"][BRANCH_DEPTH]).collect();
        assert_eq!(serde_json::to_value(depths).unwrap(), serde_json::json!([0, 1, 2, 3, 2, 3, null]));
        let back: Layers = serde_json::from_value(list).unwrap();
        assert_eq!(back, tree);
        assert!(back.iter().all(|l| l.facts.is_empty()));
        // Depths that no tree has.
        let mut list = layers(&[(Disk, "sda"), (Link, "ata1"), (Controller, "pci")]);
        for (layer, depth) in list.iter_mut().zip([7i64, -3, i64::MAX]) {
            layer.set(BRANCH_DEPTH, depth);
        }
        let hostile = Layers::from(list);
        assert_eq!([hostile.depth(0), hostile.depth(1), hostile.depth(2)], [Some(0), Some(0), Some(0)]);
    }

    #[test]
    fn without_depths_kinds_say_where_layers_belong() {
        let tree = Layers::from(layers(&[
            (Filesystem, "xfs"),
            (Md, "md0"),
            (Disk, "sda"),
            (Controller, "a"),
            (Disk, "sdb"),
            (Link, "b"),
            (Host, "board"),
        ]));
        assert_eq!([names(tree.below(2)), names(tree.below(4))], [vec!["a"], vec!["b"]]);
        assert_eq!((tree.above(4), tree.depth(6)), (Some(1), None));
    }

    #[test]
    fn layers_come_between_beside_and_go() {
        let mut tree = mirror();
        tree.insert_above(2, Layer::new(Dm, "dm-0"));
        assert_eq!(names(tree.below(2)), ["sda", "ata1"]);
        assert_eq!(tree.depth(3), Some(3));
        tree.insert_sibling(2, Layer::new(Disk, "sdc"));
        assert_eq!((names(tree.below(1)), tree.depth(5)), (vec!["dm-0", "sda", "ata1", "sdc", "sdb", "ata2"], Some(2)));
        tree.retain(|l| !matches!(l.kind, Dm | Md | Partition));
        assert_eq!(
            (names(tree.below(0)), names(tree.below(1))),
            (vec!["sda", "ata1", "sdc", "sdb", "ata2"], vec!["ata1"])
        );
    }
}
