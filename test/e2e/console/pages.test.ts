import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { WatchedPage } from '../../support/chromium.ts';
import { createConsoleWorld, KEEP, NOTES } from '../../support/console-world.ts';
import { LENDING_RUN } from '../../support/skill-run.ts';
import { createWire, type Wire } from '../../support/wire.ts';

const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' };

/** A page with what shows that it is there, and the same of its tabs in their order. */
interface Stop {
  readonly name: string;
  readonly path: string;
  readonly ready: string;
  readonly tabs?: Readonly<Record<string, string>>;
}

/** Every page and tab of the console, with data in all of them. */
const STOPS: readonly Stop[] = [
  { name: 'ask', path: '/ask?session=talk', ready: 'section[aria-label=Sources]' },
  { name: 'datasets', path: '/datasets', ready: 'text=Ready' },
  {
    name: 'dataset',
    path: '/datasets/{dataset}',
    ready: 'text=In the graph',
    tabs: {
      Runs: 'table[aria-label=Runs]',
      'Changed facts': 'article',
      Improve: 'section[aria-label="What was learned"]',
      Skills: 'text=How to lend a violin',
      Snapshots: 'table[aria-label=Snapshots]',
      Options: 'role=button[name="Build with these"]',
    },
  },
  {
    name: 'add',
    path: '/datasets/{dataset}',
    ready: 'role=tab[name="Files"]',
    tabs: { Text: 'role=button[name="Add the text"]', 'Web page': 'role=textbox[name="Address"]' },
  },
  {
    name: 'graph',
    path: '/graph?dataset={dataset}',
    ready: '[data-settled=true]',
    tabs: { Nodes: 'ul[aria-label=Nodes]' },
  },
  { name: 'sessions', path: '/sessions', ready: 'table[aria-label=Sessions]' },
  { name: 'session', path: '/sessions/talk', ready: 'section[aria-label="What was learned"]' },
  {
    name: 'skills',
    path: '/skills?dataset={dataset}',
    ready: 'text=How to lend a violin',
    tabs: { Proposals: 'article >> ins' },
  },
  { name: 'improve', path: '/improve?dataset={dataset}', ready: 'section[aria-label="What was learned"]' },
  {
    name: 'activity',
    path: '/activity',
    ready: 'table[aria-label=Runs]',
    tabs: { 'Failed jobs': 'text=No job has failed for good', 'Audit log': 'table[aria-label="Audit log"] >> td' },
  },
  {
    name: 'people',
    path: '/people',
    ready: 'table[aria-label="API keys"]',
    tabs: {
      Permissions: '[aria-label="librarians may read notes"]',
      Tenants: 'section[aria-label=Roles]',
      Agents: 'table[aria-label=Agents]',
      Accounts: 'table[aria-label=Accounts]',
      'Your account': 'role=button[name="Save"]',
    },
  },
  { name: 'integrations', path: '/integrations', ready: 'text=No other memory is configured' },
  { name: 'costs', path: '/costs', ready: 'text=Model tokens today' },
  { name: 'settings', path: '/settings', ready: 'table[aria-label^=Health] >> text=healthy' },
  { name: 'device', path: '/device', ready: 'role=button[name="Continue"]' },
];

describe('console in a browser: every page and tab, sound in both colours and on a telephone, reached by keyboard', () => {
  const world = createConsoleWorld({
    REQUIRE_AUTHENTICATION: 'true',
    DEFAULT_USER_EMAIL: ADMIN.email,
    DEFAULT_USER_PASSWORD: ADMIN.password,
  });
  const { open, keep, expectSound } = world;
  let watched: WatchedPage;
  let dataset = '';

  it('sign-in', async () => {
    watched = await open('/datasets');
    const { page, errors } = watched;
    await page.waitForSelector('input[type=email]');
    await look('sign-in', { allowed: /401/ });
    await page.fill('input[type=email]', ADMIN.email);
    await page.fill('input[type=password]', ADMIN.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=No datasets yet');
    errors.length = 0;
    dataset = await fill(await signIn(world.app.baseUrl));
  });

  for (const { name, path, ready, tabs = {} } of STOPS) {
    it([name, ...Object.keys(tabs)].join(', '), async () => {
      const { page } = watched;
      await page.goto(`${world.app.baseUrl}${path.replace('{dataset}', dataset)}`);
      await page.waitForSelector(ready);
      await look(name);
      for (const [tab, inside] of Object.entries(tabs)) {
        const named = page.locator('role=tab', { has: page.locator(`text="${tab}"`) });
        await named.locator('xpath=preceding-sibling::*[1]').focus();
        await page.keyboard.press('ArrowRight');
        await page.waitForSelector(inside);
        await look(`${name}-${tab.toLowerCase().replaceAll(' ', '-')}`, { isTab: true });
      }
    });
  }

  async function look(
    name: string,
    { isTab = false, allowed = null }: { isTab?: boolean; allowed?: RegExp | null } = {},
  ): Promise<void> {
    const { page } = watched;
    for (const [colorScheme, width] of [
      ['light', 390],
      ['dark', 390],
      ['dark', 1280],
      ['light', 1280],
    ] as const) {
      // Pages in both, tabs of them, which have the same colours, in one: a check takes as long as all else.
      const isChecked = colorScheme === 'dark' ? width === 390 : width === 1280 && !isTab;
      if (!isChecked && !KEEP && !(colorScheme === 'light' && width === 1280)) continue;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await keep(page, `${name}-${colorScheme}-${width}`);
      if (!isChecked) continue;
      await expectSound(watched, allowed);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(width);
    }
    expect(await outOfReach(page), 'for the mouse alone').to.deep.equal([]);
  }
});

/** What looks as if it could be clicked, and is neither reached by Tab nor part of what is. */
function outOfReach(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const reached = 'a[href], button, input, select, textarea, summary, label, [tabindex="0"], [role=tab], [role=option]';
    return [...document.querySelectorAll('main *')]
      .filter((each) => getComputedStyle(each).cursor === 'pointer' && each.checkVisibility())
      .filter((each) => each.closest(reached) === null && each.querySelector(reached) === null)
      // The parts of a slider, whose thumbs are reached.
      .filter((each) => each.closest('.mantine-RangeSlider-root')?.querySelector('[role=slider][tabindex="0"]') == null)
      .map((each) => each.outerHTML.slice(0, 120));
  })()`);
}

async function signIn(baseUrl: string): Promise<Wire> {
  const body = new URLSearchParams({ username: ADMIN.email, password: ADMIN.password });
  const answer = await fetch(`${baseUrl}/api/v1/auth/login`, { method: 'POST', body });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return createWire(baseUrl, { authorization: `Bearer ${token}` });
}

/** Something for every list of the console; returns the id of the dataset. */
async function fill(wire: Wire): Promise<string> {
  const post = async (path: string, body: unknown) => {
    const { status, json, text } = await wire.post(path, body);
    expect(status, `${path}: ${text}`).to.be.below(300);
    return json;
  };
  await post('/permissions/tenants?tenant_name=Harbour', undefined);
  await post('/permissions/roles?role_name=librarians', undefined);
  const { id } = await post('/datasets', { name: 'notes' });
  for (const content of [NOTES, 'Eva Holm lives in Bergen.', 'Eva Holm lives in Oslo now.']) {
    await wire.upload('notes', { name: `note-${content.length}.txt`, content });
    await post('/cognify', { datasetIds: [id] });
  }
  const skill = '---\ndescription: How to lend a violin\n---\n1. Ask for the card.';
  await post('/skills', { dataset_id: id, skill_name: 'lending', skills_text: skill });
  await post('/remember/entry', { dataset_id: id, entry: LENDING_RUN, skill_improvement: {} });
  const question = { searchType: 'GRAPH_COMPLETION', sessionId: 'talk', datasetIds: [id] };
  await post('/recall', { ...question, query: 'Who founded the Harbour Library?' });
  const said = { type: 'qa', question: 'We deploy on Fridays only. Why is that?', answer: 'I do not know.' };
  await post('/remember/entry', { entry: said, session_id: 'talk', dataset_id: id });
  await post('/improve', { datasetId: id, sessionIds: ['talk'] });
  await post(`/datasets/${id}/snapshots`, { name: 'before-import' });
  await post('/auth/api-keys', { name: 'laptop' });
  await post('/agents/create?name=reviewer', undefined);
  await post('/auth/register', { email: 'eve@example.com', password: ADMIN.password });
  return id;
}
