//! Enums whose variants have names.

/// What follows from the names of an enum's variants: all of them, in order, and each one's own.
#[macro_export]
macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// All of them, in order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// With their names.
            pub const NAMES: [(&'static str, Self); Self::ALL.len()] = [$(($name, Self::$variant)),+];

            /// The name in documents and texts.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// An enum whose variants have names, each said once: for JSON, and for what [`names!`] gives.
macro_rules! named {
    ($(#[$of:meta])* pub enum $type:ident { $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $($(#[$of_variant])* #[serde(rename = $name)] $variant,)+
        }

        $crate::names! { $type { $($variant = $name),+ } }
    };
}
