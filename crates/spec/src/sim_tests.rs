use super::*;

#[test]
fn every_model_loads_and_names_its_source() {
    let models = sim_models().unwrap();
    assert_eq!(models.len(), MODELS.len());
    for model in models {
        assert!(model.source.contains("nvented"), "{}: says what is invented", model.name);
        assert!(!model.title.is_empty());
    }
}

#[test]
fn values_are_overridden_with_units() {
    let model =
        parse_sim("sim:emmc,capacity=64MiB,flush=200us,link=50MB/s,foreign=30%,throttle-start=3s,seed=7").unwrap();
    assert_eq!(model.media.capacity_bytes, 64 << 20);
    assert_eq!(model.media.flush_ns, 200_000);
    assert_eq!(model.link.line_bytes_per_s, 50_000_000);
    assert_eq!(model.foreign_share, 0.3);
    assert_eq!(model.throttle.unwrap().start_ns, 3_000_000_000);
    assert_eq!(model.seed, 7);
}

#[test]
fn unknown_names_and_keys_are_answered_with_the_nearest() {
    let error = parse_sim("sim:class4card").unwrap_err();
    assert!(matches!(&error, SimSpecError { nearest: Some(n), .. } if n == "class4-card"), "{error}");
    let text = error.to_string();
    assert!(text.contains("did you mean 'class4-card'") && text.contains("sata-ssd"), "{text}");
    let error = parse_sim("sim:nvme,read-bandwith=1GB/s").unwrap_err();
    assert!(matches!(&error, SimSpecError { nearest: Some(n), .. } if n == "read-bandwidth"), "{error}");
    let error = parse_sim("sim:qqqqqqqqqq").unwrap_err();
    assert!(matches!(&error, SimSpecError { nearest: None, .. }), "{error}");
}

#[test]
fn bad_values_say_what_is_expected() {
    for (text, expected) in [
        ("emmc,capacity=big", "a size such as 64MiB"),
        ("emmc,flush=5parsecs", "unknown unit 'parsecs'"),
        ("emmc,host-queue=0", "from 1 on"),
        ("emmc,steal=1.5", "a share"),
        ("emmc,link=0MB/s", "above 0"),
        ("emmc,read-points=4KiB:10+1KiB:20", "ascending"),
        ("emmc,read-points=4KiB:0", "SIZE:IOPS"),
        ("emmc,jitter=NaN", "from 0 to 3"),
        ("emmc,flush", "not key=value"),
        ("emmc,steal=1", "steal leaves"),
        ("emmc,stall-period=1s,stall-duration=2s", "stall-duration"),
        ("emmc,throttle-factor=0", "throttle-factor is below"),
        ("emmc,capacity=0", "below 1 MiB"),
        ("emmc,flush=400d", "30 days"),
        ("emmc,read-points=4KiB:0.0000000001", "30 days"),
        ("emmc,open-streams=4000000000", "65536"),
        ("emmc,link=1", "1 kB/s"),
    ] {
        let error = parse_sim(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn what_has_no_effect_is_refused_with_the_reason() {
    for (text, why) in [
        ("a1-card,random-write-overhead=50ms,random-write-points=4KiB:10", "random-write-points say"),
        ("a1-card,read-points=4KiB:10,read-overhead=1ms", "read-points say"),
        ("emmc,write-points=4KiB:10,write-overhead=1ms", "write-points say"),
        ("nvme,open-streams=1", "random-write-overhead"),
        ("nvme,erase-block=1MiB", "erase-penalty"),
        ("nvme,cache-drain=1GB/s,cache=0", "cache=0"),
        ("emmc,cap-visible=true", "cap-iops"),
        ("emmc,throttle-start=1s,throttle-factor=1", "full speed"),
        ("emmc,cpu-throttle-ramp=1s,cpu-throttle-factor=100%", "full speed"),
        ("emmc,stall-period=1s,stall-duration=0", "not a stall"),
        ("emmc,irq-share=1,cpu-per-command=0,cpu-ps-per-byte=0", "no CPU time"),
        ("emmc,eio-start=1MiB", "eio-length"),
        ("emmc,data-fault-at=7", "data-fault says"),
        ("emmc,capacity=64MiB,eio-start=64MiB,eio-length=1MiB", "capacity"),
        ("emmc,capacity=64MiB,wraps-at=1GiB", "capacity"),
        ("emmc,limbo-from=8TB", "capacity"),
        ("emmc,wraps-at=1GiB,limbo-from=2GiB", "leads back"),
        ("emmc,flush=1ms,flush=2ms", "flush is given twice"),
    ] {
        let error = parse_sim(text).expect_err(text).to_string();
        assert!(error.contains(why) && (error.contains("has no effect") || error.contains("twice")), "{text}: {error}");
    }
    for text in [
        "nvme,open-streams=1,erase-penalty=5ms",
        "nvme,erase-block=1MiB,random-write-overhead=5ms",
        "emmc,cache-drain=1GB/s",
        "emmc,cap-visible=true,cap-iops=100",
        "emmc,limbo-from=1GiB,wraps-at=2GiB",
        "emmc,eio-start=1MiB,eio-length=1",
    ] {
        parse_sim(text).expect(text);
    }
}

#[test]
fn keys_are_unique_and_described() {
    for (i, key) in sim_keys().iter().enumerate() {
        assert!(sim_keys()[..i].iter().all(|k| k.name != key.name), "{} twice", key.name);
        assert!(key.meaning.ends_with('.') && !key.expects.is_empty());
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[a-z0-9-]{0,12}(,[a-z-]{0,12}=?[0-9a-zA-Z.:+%/-]{0,12}){0,3}") {
        let _ = parse_sim(&text);
    }

    #[test]
    fn no_value_of_a_known_key_panics(key in 0usize..49, value in "[0-9a-zA-Z.:+%/-]{0,16}") {
        let keys = sim_keys();
        let _ = parse_sim(&format!("nvme,{}={value}", keys[key % keys.len()].name));
    }
}
