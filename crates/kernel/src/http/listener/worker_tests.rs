use super::*;

fn worker(limit: usize) -> Rc<Worker> {
    Rc::new(Worker::new(&Shared {
        limit,
        keep_alive: Duration::from_secs(75),
        metrics: Arc::new(Metrics::new()),
        stopping: Stopping::default(),
    }))
}

fn from(worker: &Rc<Worker>, last: u8) -> Option<ConnectionSlot> {
    let place = worker.admit([127, 0, 0, last].into(), None)?;
    place.state.opened(false);
    Some(place)
}

#[tokio::test]
async fn a_newcomer_takes_the_place_of_the_address_that_holds_most() {
    let worker = worker(4);
    let lone = from(&worker, 1).unwrap();
    worker.clock.set(10);
    let many: Vec<_> = (0..3).map(|_| from(&worker, 2).unwrap()).collect();
    worker.clock.set(20);
    let newcomer = from(&worker, 3).unwrap();
    assert!(!lone.state.is_killed(), "older, and the only one of its address");
    assert_eq!(many.iter().filter(|place| place.state.is_killed()).count(), 1);
    drop((lone, many, newcomer));
    assert!(worker.connections.borrow().is_empty());
}

#[tokio::test]
async fn a_newcomer_goes_when_all_are_worked_on() {
    let worker = worker(2);
    let places = [from(&worker, 1).unwrap(), from(&worker, 2).unwrap()];
    let requests = places.each_ref().map(|place| place.state.begin());
    worker.clock.set(100);
    assert!(from(&worker, 3).is_none());
    drop(requests);
    assert!(from(&worker, 3).is_none(), "within a tick nobody is idle");
    worker.clock.set(104);
    assert!(from(&worker, 3).is_some());
}

#[tokio::test]
async fn places_are_found_again_in_any_order() {
    let worker = worker(8);
    let mut places: Vec<_> = (0..8).map(|last| from(&worker, last).unwrap()).collect();
    for index in [3, 0, 5, 2, 0, 1, 0, 0] {
        places.swap_remove(index);
        let connections = worker.connections.borrow();
        assert_eq!(connections.len(), places.len());
        for (index, connection) in connections.iter().enumerate() {
            assert_eq!(connection.index.get(), index);
        }
    }
}
