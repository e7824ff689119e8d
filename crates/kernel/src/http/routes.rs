//! The route table: the service's own routes, and the only place where capabilities add theirs.

use std::sync::Arc;

use actix_web::web::{self, Data, ServiceConfig};
use jackpot_ui::Asset;
use utoipa::OpenApi;

use super::assets;
use super::fallback::{self, RouteTable};
use super::inside::Inside;
use super::openapi::{self, DocumentText, ServiceDoc};
use super::{Web, health, problem, starting};

/// The capabilities' part of the service.
#[derive(Clone)]
pub struct Routes {
    /// Mounts their routes with their app data. Called once for each worker thread.
    pub mount: Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>,
    /// Describes their routes. A 405 takes its `Allow` from it, so every route must be in it.
    pub document: utoipa::openapi::OpenApi,
    pub pages: Pages,
}

/// The pages for people, which call the API ([`super::inside`]). They are not in its description.
#[derive(Clone)]
pub struct Pages {
    /// Mounts them.
    pub mount: Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>,
    /// The files that they load.
    pub assets: Vec<&'static Asset>,
}

impl Default for Pages {
    /// No pages.
    fn default() -> Self {
        Self {
            mount: Arc::new(|_| {}),
            assets: Vec::new(),
        }
    }
}

/// Everything that a worker needs, made once for all of them.
#[derive(Clone)]
pub(super) struct Table {
    web: Data<Web>,
    refusals: Data<RouteTable>,
    text: Option<Data<DocumentText>>,
    mount: Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>,
    pages: Pages,
    metrics_here: bool,
}

impl Table {
    /// `metrics_here`: whether `/metrics` is served with the API.
    pub(super) fn new(web: Web, routes: Routes, metrics_here: bool) -> Table {
        let mut document = ServiceDoc::openapi().merge_from(routes.document);
        if !metrics_here {
            document.paths.paths.remove("/metrics");
        }
        Table {
            web: Data::new(web),
            refusals: Data::new(RouteTable::of(&document)),
            text: Some(Data::new(DocumentText::of(document))),
            mount: routes.mount,
            pages: routes.pages,
            metrics_here,
        }
    }

    /// For an instance that is starting. It has no text of a description: all servers of a process share one, which is
    /// that of the service ([`DocumentText::of`]).
    pub(super) fn starting(web: Web, metrics_here: bool) -> Table {
        Table {
            web: Data::new(web),
            refusals: Data::new(RouteTable::of(&ServiceDoc::openapi())),
            text: None,
            mount: Arc::new(|_| {}),
            pages: Pages::default(),
            metrics_here,
        }
    }

    /// Mounts the routes of [`Table::starting`].
    pub(super) fn mount_starting(&self, config: &mut ServiceConfig) {
        config
            .app_data(self.web.clone())
            .app_data(self.refusals.clone())
            .route("/healthz", super::get().to(starting::healthz))
            .route("/readyz", super::get().to(starting::readyz))
            .default_service(web::to(starting::refuse));
        if self.metrics_here {
            config.route("/metrics", super::get().to(health::metrics));
        }
    }

    pub(super) fn mount(&self, config: &mut ServiceConfig) {
        self.mount_api(config);
        let table = self.clone();
        config.app_data(Inside::new(Arc::new(move |config| table.mount_api(config))));
        assets::routes(config, &self.pages.assets);
        (self.pages.mount)(config);
    }

    pub(super) fn mount_api(&self, config: &mut ServiceConfig) {
        config.app_data(self.web.clone()).app_data(self.refusals.clone());
        if let Some(text) = &self.text {
            config.app_data(text.clone());
        }
        // First, because routes are tried in order.
        (self.mount)(config);
        config
            .route("/healthz", super::get().to(health::healthz))
            .route("/readyz", super::get().to(health::readyz))
            .route("/problems/{code}", super::get().to(problem::explain))
            .default_service(web::to(fallback::refuse));
        if self.metrics_here {
            config.route("/metrics", super::get().to(health::metrics));
        }
        openapi::routes(config);
    }

    /// For the listener that serves only `/metrics`.
    pub(super) fn mount_metrics(&self, config: &mut ServiceConfig) {
        config
            .app_data(self.web.clone())
            .app_data(Data::new(self.refusals.only("/metrics")))
            .route("/metrics", super::get().to(health::metrics))
            .default_service(web::to(fallback::refuse));
    }
}
