import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../services/common/kernel/hashes.ts';
import { createGuardedFetcher } from '../../services/common/platform/fetch/guarded-fetcher.ts';
import { createSourceNetwork } from '../../services/common/platform/fetch/source-network.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createFolderConnector } from '../../services/integrations/providers/folder.ts';
import { createGithubConnector } from '../../services/integrations/providers/github.ts';
import { createGmailConnector } from '../../services/integrations/providers/gmail.ts';
import { createCalendarConnector } from '../../services/integrations/providers/google-calendar.ts';
import { createDriveConnector } from '../../services/integrations/providers/google-drive.ts';
import { createImapConnector } from '../../services/integrations/providers/imap.ts';
import { createLinearConnector } from '../../services/integrations/providers/linear.ts';
import { createNotionConnector } from '../../services/integrations/providers/notion.ts';
import { createSlackConnector } from '../../services/integrations/providers/slack.ts';
import { createSlackApi } from '../../services/integrations/providers/slack-api.ts';
import { createWebConnector } from '../../services/integrations/providers/web.ts';
import { createWebdavConnector } from '../../services/integrations/providers/webdav.ts';
import { HAS_DOVECOT, MAIL_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { startFakeGithub } from '../support/fake-github.ts';
import { startFakeGoogle } from '../support/fake-google.ts';
import { startFakeLinear } from '../support/fake-linear.ts';
import { block, startFakeNotion, WORKSPACE } from '../support/fake-notion.ts';
import { INSTALLER, startFakeSlack, tsAt } from '../support/fake-slack.ts';
import { startFakeWebdav } from '../support/fake-webdav.ts';
import { closed, listening } from '../support/listening.ts';
import { connectorSuite } from './connector.ts';

connectorSuite('folder', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'engram-folder-')));
  return {
    connector: createFolderConnector({ roots: [folder], maxBytes: 1000 }),
    account: { accountId: folder, accountLabel: 'notes' },
    feed: 'files',
    put: (name, text) => writeFile(join(folder, `${name}.md`), text),
    remove: (name) => rm(join(folder, `${name}.md`)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
});

for (const shape of ['a sitemap', 'links'] as const) {
  connectorSuite(`web site with ${shape}`, async () => {
    const pages = new Map<string, string>();
    const server = createServer((request, response) => {
      const path = request.url ?? '/';
      const name = /^\/site\/(\w+)$/.exec(path)?.[1] ?? '';
      const links = [...pages.keys()].map((one) => `<a href="/site/${one}">${one}</a>`).join(' ');
      const urls = [...pages.keys()].map((one) => `<url><loc>${url}/site/${one}</loc></url>`).join('');
      const body =
        path === '/robots.txt'
          ? `User-agent: *\nDisallow: /site/secret\n`
          : path === '/site/'
            ? `<html><body>${links}</body></html>`
            : path === '/sitemap.xml' && shape === 'a sitemap'
              ? `<?xml version="1.0"?><urlset>${urls}</urlset>`
              : pages.get(name);
      if (body === undefined) response.writeHead(404).end();
      else {
        const etag = `"${sha256(body)}"`;
        const isKnown = request.headers['if-none-match'] === etag;
        response.writeHead(isKnown ? 304 : 200, { 'content-type': 'text/html', etag }).end(isKnown ? '' : body);
      }
    });
    const url = await listening(server);
    const limits = { allowHttpRequests: true, maxBytes: 100_000, allowPrivateAddresses: true };
    return {
      connector: createWebConnector({ fetcher: createGuardedFetcher(limits), clock: createSystemClock() }),
      account: { accountId: `${url}/site/`, accountLabel: 'site' },
      feed: 'pages',
      put: async (name, text) => pages.set(name, `<html><body><p>${text}</p></body></html>`),
      remove: async (name) => pages.delete(name),
      [Symbol.asyncDispose]: () => closed(server),
    };
  });
}

for (const feed of ['issues', 'discussions', 'files', 'wiki'] as const) {
  connectorSuite(`GitHub ${feed}`, async () => {
    const github = await startFakeGithub();
    const { issues, files, discussions, wiki } = github.add('acme/engine');
    const numbers = new Map<string, number>();
    let changes = 0;
    const app = { appId: '1234', appSlug: 'engram', clientId: 'client', clientSecret: 'secret', frontendUrl: '' };
    const { privateKey, webhookSecret, url: webUrl } = github;
    return {
      connector: createGithubConnector({ app: { ...app, privateKey, webhookSecret }, webUrl }),
      account: { accountId: github.installationId, accountLabel: 'acme' },
      feed,
      async put(name, text) {
        const number = numbers.get(name) ?? numbers.size + 1;
        numbers.set(name, number);
        changes += 1;
        const updated = new Date(Date.UTC(2026, 0, 1, 0, 0, changes)).toISOString();
        const said = { title: name, body: text, user: 'ada', updated, comments: [] };
        if (feed === 'files') files.set(`${name}.md`, text);
        else if (feed === 'wiki') wiki.set(`${name}.md`, text);
        else if (feed === 'discussions') discussions.set(number, said);
        else issues.set(number, { title: name, body: text, state: 'open', user: 'ada', updated, comments: [] });
      },
      async remove(name) {
        for (const pages of [files, wiki]) pages.delete(`${name}.md`);
        discussions.delete(numbers.get(name) ?? 0);
        issues.delete(numbers.get(name) ?? 0);
      },
      [Symbol.asyncDispose]: () => github[Symbol.asyncDispose](),
    };
  });
}

for (const feed of ['issues', 'projects'] as const) {
  connectorSuite(`Linear ${feed}`, async () => {
    const linear = await startFakeLinear();
    const { id: team } = linear.team('ENG');
    linear.tokens.set('', Date.now() + 3_600_000);
    const app = { clientId: 'client', clientSecret: 'secret', redirectUri: '', frontendUrl: '', webUrl: linear.url };
    let changes = 0;
    return {
      connector: createLinearConnector({ ...app, webhookSecret: linear.webhookSecret, apiUrl: linear.url }),
      account: { accountId: 'org-1', accountLabel: 'Acme' },
      feed,
      async put(name, text) {
        changes += 1;
        const updatedAt = new Date(Date.UTC(2026, 0, 1, changes)).toISOString();
        if (feed === 'projects') {
          const known = linear.projects.find((one) => one.name === name);
          if (known !== undefined) Object.assign(known, { content: text, updatedAt });
          else linear.projects.push({ id: name, name, content: text, teams: [team], updatedAt, updates: [] });
          return;
        }
        const known = linear.issues.find(({ title }) => title === name);
        if (known !== undefined) Object.assign(known, { description: text, updatedAt });
        else linear.issue(team, name, { description: text, updatedAt });
      },
      async remove(name) {
        const index = linear.projects.findIndex((one) => one.name === name);
        if (index >= 0) linear.projects.splice(index, 1);
        // The trash counts as a change.
        const issue = linear.issues.find(({ title }) => title === name);
        const at = new Date(Date.UTC(2026, 0, 2)).toISOString();
        if (issue !== undefined) Object.assign(issue, { trashed: true, archivedAt: at });
      },
      [Symbol.asyncDispose]: () => linear[Symbol.asyncDispose](),
    };
  });
}

for (const service of ['Google Drive', 'Gmail', 'Google Calendar'] as const) {
  connectorSuite(service, async () => {
    const google = await startFakeGoogle();
    google.allow('');
    google.calendar.calendar('ada@acme.test', 'Ada');
    const ids = new Map<string, string>();
    const client = { clientId: 'client of gmail', clientSecret: 'secret', stateSecret: 's', isShared: false };
    const app = { ...client, redirectUri: '', frontendUrl: '', url: google.url };
    const subjects = {
      'Google Drive': {
        connector: createDriveConnector(app, { maxFileMb: 25, readsGroups: true }),
        feed: 'files',
        async put(name: string, content: string) {
          const id = ids.get(name);
          if (id === undefined) ids.set(name, google.drive.add({ name: `${name}.md`, content }));
          else google.drive.change(id, { content });
        },
        remove: async (name: string) => google.drive.change(ids.get(name) ?? '', { trashed: true }),
      },
      Gmail: {
        connector: createGmailConnector(app),
        feed: 'messages',
        // Mail does not change: another message takes its place.
        async put(name: string, text: string) {
          if (ids.has(name)) google.mail.remove(ids.get(name) ?? '');
          ids.set(name, google.mail.add(`Subject: ${name}\r\n\r\n${text}`, 'INBOX'));
        },
        remove: async (name: string) => google.mail.change(ids.get(name) ?? '', { add: ['TRASH'] }),
      },
      'Google Calendar': {
        connector: createCalendarConnector(app),
        feed: 'events',
        put: async (id: string, description: string) => google.calendar.put('ada@acme.test', { id, description }),
        remove: async (id: string) => google.calendar.put('ada@acme.test', { id, status: 'cancelled' as const }),
      },
    };
    return {
      ...subjects[service],
      account: { accountId: '1122334455', accountLabel: 'ada@acme.test' },
      [Symbol.asyncDispose]: () => google[Symbol.asyncDispose](),
    };
  });
}
connectorSuite('WebDAV', async () => {
  const server = await startFakeWebdav();
  const connector = createWebdavConnector({ network: createSourceNetwork(['127.0.0.1']), maxBytes: 100_000 });
  const account = await connector.connect?.(server.url, { userName: 'anna', password: server.password });
  return {
    connector,
    account: { accountId: account?.accountId ?? '', accountLabel: 'anna', metadata: account?.metadata ?? {} },
    token: server.password,
    feed: 'files',
    put: async (name, text) => server.files.set(`${name} é#1.md`, text),
    remove: async (name) => server.files.delete(`${name} é#1.md`),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});

(HAS_DOVECOT ? connectorSuite : describe.skip)('IMAP, on Dovecot', async () => {
  const server = await startDovecot();
  const connector = createImapConnector({ network: createSourceNetwork(['127.0.0.1']), maxBytes: 100_000 });
  const login = { userName: 'anna', password: MAIL_PASSWORD };
  const account = await connector.connect?.(`imap://127.0.0.1:${server.port}`, login);
  const remove = (name: string) =>
    server.within('anna', async (mailbox) => {
      await mailbox.messageDelete({ subject: name });
    });
  return {
    connector,
    account: { accountId: account?.accountId ?? '', accountLabel: 'anna', metadata: account?.metadata ?? {} },
    token: MAIL_PASSWORD,
    feed: 'mails',
    async put(name, text) {
      await remove(name);
      await server.within('anna', (mailbox) =>
        mailbox.append('INBOX', `From: ada@example.org\r\nSubject: ${name}\r\n\r\n${text}\r\n`),
      );
    },
    remove,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});

for (const kind of ['pages', 'rows'] as const) {
  connectorSuite(`Notion ${kind}`, async () => {
    const notion = await startFakeNotion();
    const parent = kind === 'rows' ? notion.database('Parts').row : WORKSPACE;
    const handbook = notion.page('Handbook', []);
    const home = { parent: kind === 'rows' ? parent : { type: 'page_id' as const, page_id: handbook.id } };
    if (kind === 'rows') notion.pages.delete(handbook.id);
    notion.tokens.add('');
    let changes = 0;
    const titled = (name: string) => [...notion.pages.values()].find(({ title }) => title === name);
    return {
      connector: createNotionConnector({ apiUrl: notion.url, logger: { warn: () => {} } }),
      account: { accountId: 'workspace', accountLabel: 'Acme' },
      feed: 'pages',
      async put(name, text) {
        changes += 1;
        const change = {
          blocks: [block('paragraph', text)],
          edited: new Date(Date.UTC(2026, 0, 1, changes)).toISOString(),
        };
        const known = titled(name);
        if (known === undefined) notion.page(name, change.blocks, { ...home, edited: change.edited });
        else Object.assign(known, change);
      },
      async remove(name) {
        const page = titled(name);
        if (page !== undefined) page.inTrash = true;
      },
      [Symbol.asyncDispose]: () => notion[Symbol.asyncDispose](),
    };
  });
}

connectorSuite('Slack', async () => {
  const slack = await startFakeSlack();
  const { messages } = slack.add('engine');
  const times = new Map<string, string>();
  const token = slack.token();
  const api = createSlackApi({ apiUrl: `${slack.url}/api/` });
  const app = { api, ...slack.options, redirectUri: '', frontendUrl: '', syncsHistory: true };
  const connector = createSlackConnector({ api, app });
  const once = {
    dataset_id: 'd',
    channel_ids: ['C0ENGINE'],
    thread_links: [],
    threads: [],
    oldest: null,
    latest: null,
    thread_mode: 'started',
    max_requests: 1000,
    max_messages: 1000,
  };
  const remove = async (name: string) => {
    const at = messages.findIndex(({ ts }) => ts === times.get(name));
    if (at >= 0) messages.splice(at, 1);
  };
  return {
    connector,
    account: { accountId: slack.team.id, accountLabel: slack.team.name, metadata: { once, sync: null } },
    token,
    feed: 'threads',
    async put(name, text) {
      const ts = times.get(name) ?? tsAt('2026-01-05T00:00:00Z', times.size);
      await remove(name);
      times.set(name, ts);
      messages.push({ ts, user: INSTALLER, text });
    },
    remove,
    [Symbol.asyncDispose]: () => slack[Symbol.asyncDispose](),
  };
});
