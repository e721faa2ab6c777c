import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { NotFound, Shell } from './shell.tsx';
import { Failed, Waiting } from './states.tsx';

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

interface AskSearch {
  readonly dataset?: string;
  readonly type?: string;
  readonly session?: string;
}

interface DatasetSearch {
  readonly dataset?: string;
}

interface GraphSearch {
  readonly dataset?: string;
  /** Ids of nodes, separated by commas: only what is near them is shown. */
  readonly node?: string;
  /** How many steps away from them. */
  readonly depth?: number;
}

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/ask', search: {} });
  },
});

const askRoute = createRoute({
  getParentRoute: () => root,
  path: '/ask',
  validateSearch: (search: Record<string, unknown>): AskSearch => ({
    dataset: text(search['dataset']),
    type: text(search['type']),
    session: text(search['session']),
  }),
  component: lazyRouteComponent(() => import('./ask/page.tsx'), 'AskPage'),
});

const datasetsRoute = createRoute({
  getParentRoute: () => root,
  path: '/datasets',
  component: lazyRouteComponent(() => import('./datasets/list.tsx'), 'DatasetsPage'),
});

const datasetRoute = createRoute({
  getParentRoute: () => root,
  path: '/datasets/$dataset',
  component: lazyRouteComponent(() => import('./datasets/page.tsx'), 'DatasetPage'),
});

const graphRoute = createRoute({
  getParentRoute: () => root,
  path: '/graph',
  validateSearch: (search: Record<string, unknown>): GraphSearch => ({
    dataset: text(search['dataset']),
    node: text(search['node']),
    depth: [1, 2, 3].find((depth) => depth === Number(search['depth'])),
  }),
  component: lazyRouteComponent(() => import('./graph/page.tsx'), 'GraphPage'),
});

const sessionsRoute = createRoute({
  getParentRoute: () => root,
  path: '/sessions',
  component: lazyRouteComponent(() => import('./sessions/page.tsx'), 'SessionsPage'),
});

const sessionRoute = createRoute({
  getParentRoute: () => root,
  path: '/sessions/$session',
  component: lazyRouteComponent(() => import('./sessions/detail.tsx'), 'SessionPage'),
});

const activityRoute = createRoute({
  getParentRoute: () => root,
  path: '/activity',
  component: lazyRouteComponent(() => import('./activity/page.tsx'), 'ActivityPage'),
});

const peopleRoute = createRoute({
  getParentRoute: () => root,
  path: '/people',
  component: lazyRouteComponent(() => import('./people/page.tsx'), 'PeoplePage'),
});

const skillsRoute = createRoute({
  getParentRoute: () => root,
  path: '/skills',
  validateSearch: (search: Record<string, unknown>): DatasetSearch => ({ dataset: text(search['dataset']) }),
  component: lazyRouteComponent(() => import('./skills/page.tsx'), 'SkillsPage'),
});

const improveRoute = createRoute({
  getParentRoute: () => root,
  path: '/improve',
  validateSearch: (search: Record<string, unknown>): DatasetSearch => ({ dataset: text(search['dataset']) }),
  component: lazyRouteComponent(() => import('./improve/page.tsx'), 'ImprovePage'),
});

const integrationsRoute = createRoute({
  getParentRoute: () => root,
  path: '/integrations',
  component: lazyRouteComponent(() => import('./integrations/page.tsx'), 'IntegrationsPage'),
});

const costsRoute = createRoute({
  getParentRoute: () => root,
  path: '/costs',
  component: lazyRouteComponent(() => import('./costs/page.tsx'), 'CostsPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/page.tsx'), 'SettingsPage'),
});

const deviceRoute = createRoute({
  getParentRoute: () => root,
  path: '/device',
  validateSearch: (search: Record<string, unknown>): { readonly user_code?: string } => ({
    user_code: text(search['user_code']),
  }),
  component: lazyRouteComponent(() => import('./device/page.tsx'), 'DevicePage'),
});

const authorizeRoute = createRoute({
  getParentRoute: () => root,
  path: '/authorize',
  // As the program sent it: the server says what is wrong with it.
  validateSearch: (search: Record<string, unknown>) => search as Record<string, string>,
  component: lazyRouteComponent(() => import('./device/authorize.tsx'), 'AuthorizePage'),
});

const linkSlackRoute = createRoute({
  getParentRoute: () => root,
  path: '/link-slack',
  validateSearch: (search: Record<string, unknown>): { readonly code?: string } => ({ code: text(search['code']) }),
  component: lazyRouteComponent(() => import('./integrations/link-slack.tsx'), 'LinkSlackPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    askRoute,
    datasetsRoute,
    datasetRoute,
    graphRoute,
    sessionsRoute,
    sessionRoute,
    skillsRoute,
    improveRoute,
    activityRoute,
    peopleRoute,
    integrationsRoute,
    costsRoute,
    settingsRoute,
    deviceRoute,
    authorizeRoute,
    linkSlackRoute,
  ]),
  // Texts stay as they are: those of other programs (a `state` of 1e5) come back to them.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text === '' ? '' : `?${text}`;
  },
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Waiting />,
  defaultErrorComponent: ({ error, reset }) => <Failed error={error as Error} onRetry={reset} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
