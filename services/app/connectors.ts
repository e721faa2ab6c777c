import type { Config } from '../common/platform/config/configuration.ts';
import type { PageFetcher } from '../common/ports/documents.ts';
import type { MonotonicClock } from '../common/ports/system.ts';
import type { Connector } from '../integrations/providers/connector.ts';
import { createFolderConnector } from '../integrations/providers/folder.ts';
import { createGithubConnector } from '../integrations/providers/github.ts';
import { createWebConnector } from '../integrations/providers/web.ts';

/** The connectors that the configuration allows. */
export function connectorsOf({
  config,
  fetcher,
  clock,
}: {
  readonly config: Config;
  readonly fetcher: PageFetcher;
  readonly clock: MonotonicClock;
}): readonly Connector[] {
  const { acceptLocalFilePath, allowedLocalFileRoots: roots, uploadLimitBytes: maxBytes } = config;
  return [
    ...(acceptLocalFilePath && roots.length > 0 ? [createFolderConnector({ roots, maxBytes })] : []),
    ...(config.allowHttpRequests ? [createWebConnector({ fetcher, clock })] : []),
    ...githubOf(config),
  ];
}

/** None unless all of its settings are there. */
function githubOf(config: Config): readonly Connector[] {
  const { githubAppId: appId, githubAppSlug: appSlug, githubAppPrivateKey: privateKey } = config;
  const { githubClientId: clientId, githubClientSecret: clientSecret, githubWebhookSecret: webhookSecret } = config;
  const frontendUrl = config.githubFrontendUrl ?? config.publicUrl;
  if (!appId || !appSlug || !privateKey || !clientId || !clientSecret || !webhookSecret || !frontendUrl) return [];
  const app = { appId, appSlug, privateKey, clientId, clientSecret, webhookSecret };
  return [createGithubConnector({ ...app, frontendUrl, webUrl: config.githubUrl })];
}
