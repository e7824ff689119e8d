//! Query parameters that name subjects: `jackpot_id`, `coupon_id` and so on, one for each kind.

use std::fmt;
use std::marker::PhantomData;

use jackpot_core::ids::Id;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::{IntoParams, PartialSchema};

use crate::subject::kinds::{self, KindName};

/// The subjects that a query names, and its other parameters. `T` has `deny_unknown_fields`.
#[derive(Debug)]
pub(crate) struct OnSubjects<T> {
    pub(crate) subjects: Vec<(KindName, Id)>,
    pub(crate) rest: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OnSubjects<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Parameters(PhantomData))
    }
}

struct Parameters<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Parameters<T> {
    type Value = OnSubjects<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, all: A) -> Result<OnSubjects<T>, A::Error> {
        let mut subjects = Vec::new();
        let others = Others {
            all,
            subjects: &mut subjects,
        };
        let rest = T::deserialize(MapAccessDeserializer::new(others))?;
        Ok(OnSubjects { subjects, rest })
    }
}

/// The parameters that name no subject. Reading them collects the subjects between them.
struct Others<'s, A> {
    all: A,
    subjects: &'s mut Vec<(KindName, Id)>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Others<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(name) = self.all.next_key::<String>()? {
            let Some(kind) = kinds::all().find(|kind| kind.id_field() == name) else {
                return seed.deserialize(name.into_deserializer()).map(Some);
            };
            if self.subjects.iter().any(|(named, _)| *named == kind) {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            self.subjects.push((kind, self.all.next_value()?));
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.all.next_value_seed(seed)
    }
}

impl<T: IntoParams> IntoParams for OnSubjects<T> {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let subjects = kinds::all().map(|kind| {
            ParameterBuilder::new()
                .name(kind.id_field())
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(Some(format!("On this {kind}.")))
                .schema(Some(String::schema()))
                .build()
        });
        subjects.chain(T::into_params(place)).collect()
    }
}
