import { expect } from 'chai';
import { HAS_DOVECOT, MAIL_PASSWORD, startDovecot } from '../../support/dovecot.ts';
import { startFakeWebdav } from '../../support/fake-webdav.ts';
import { settled, synced } from '../../support/source-steps.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

async function answerOf({ post }: Wire, dataset: unknown, query: string): Promise<string> {
  const { json } = await post('/search', { query, datasetIds: [dataset] });
  return JSON.stringify(json);
}

describe('a source with a login', () => {
  let app: StartedApp;
  let wire: Wire;
  before(async () => {
    app = await startApp({ ENGRAM_SOURCE_PRIVATE_HOSTS: '127.0.0.1' });
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  it('over WebDAV is brought in and followed, and says when its password is not accepted any more', async () => {
    await using server = await startFakeWebdav();
    server.files.set('Projets/été 2026.md', 'Ada Lovelace described the Analytical Engine.');
    server.files.set('notes.md', 'Mary Somerville taught Ada Lovelace.');
    const wrong = { address: server.url, userName: 'anna', password: 'wrong' };
    const refused = await wire.post('/integrations/webdav/connect', wrong);
    expect(refused.status).to.equal(400);
    expect(refused.text).to.include('does not accept the user name and password');
    const made = await wire.post('/integrations/webdav/connect', { ...wrong, password: server.password });
    expect(made.status, made.text).to.equal(200);
    expect(made.text).not.to.include(server.password);
    const { datasetId, ...state } = await settled(wire, 'webdav');
    expect(state).to.include({ syncStatus: 'ok', storedItems: 2 });
    await until('an answer', async () =>
      (await answerOf(wire, datasetId, 'Who taught Ada Lovelace?')).includes('Mary Somerville'),
    );
    server.files.set('notes.md', 'Mary Somerville met Charles Babbage in Kensington.');
    server.files.delete('Projets/été 2026.md');
    expect(await synced(wire, 'webdav')).to.include({ syncStatus: 'ok', storedItems: 1 });
    await until('the change', async () =>
      (await answerOf(wire, datasetId, 'Where did Mary Somerville meet Charles Babbage?')).includes('Kensington'),
    );
    server.password = 'another';
    expect(await synced(wire, 'webdav'))
      .to.include({ connected: false })
      .and.have.property('error')
      .that.includes('does not accept the user name and password any more');
  });

  it('on a private address that is not listed is refused', async () => {
    for (const provider of ['webdav', 'imap']) {
      const body = { address: 'localhost', userName: 'anna', password: 'secret' };
      const answer = await wire.post(`/integrations/${provider}/connect`, body);
      expect(answer.status, provider).to.equal(403);
      expect(answer.text, provider).to.include('non-public address');
    }
  });

  (HAS_DOVECOT ? it : it.skip)('over IMAP brings in the chosen folder, and follows new and deleted mails', async () => {
    await using server = await startDovecot();
    const mail = (subject: string, text: string) =>
      `From: Ada Lovelace <ada@example.org>\r\nTo: anna@example.org\r\nDate: Mon, 5 Jan 2026 10:00:00 +0000\r\nSubject: ${subject}\r\n\r\n${text}\r\n`;
    await server.within('anna', async (mailbox) => {
      await mailbox.append('INBOX', mail('Teacher', 'Mary Somerville taught me mathematics.'));
      await mailbox.mailboxCreate('Private');
      await mailbox.append('Private', mail('Secret', 'The canary sings.'));
    });
    const login = { address: `imap://127.0.0.1:${server.port}`, userName: 'anna' };
    const refused = await wire.post('/integrations/imap/connect', { ...login, password: 'wrong' });
    expect(refused.status, refused.text).to.equal(400);
    const made = await wire.post('/integrations/imap/connect', { ...login, password: MAIL_PASSWORD });
    expect(made.status, made.text).to.equal(200);
    const { json } = await wire.get('/integrations/imap/resources');
    expect(json['selected'], 'nothing is read until it is chosen').to.deep.equal([]);
    expect((json['resources'] as { id: string }[]).map(({ id }) => id)).to.have.members(['INBOX', 'Private']);
    await wire.put('/integrations/imap/resources', { resourceIds: ['INBOX'] });
    const { datasetId, ...state } = await synced(wire, 'imap');
    expect(state).to.include({ syncStatus: 'ok', storedItems: 1 });
    await until('an answer', async () =>
      (await answerOf(wire, datasetId, 'Who taught mathematics to Ada?')).includes('Mary Somerville'),
    );
    await server.within('anna', async (mailbox) => {
      await mailbox.messageDelete({ subject: 'Teacher' });
      await mailbox.append('INBOX', mail('Visit', 'I met Charles Babbage in Kensington.'));
    });
    expect(await synced(wire, 'imap')).to.include({ syncStatus: 'ok', storedItems: 1 });
    const { json: items } = await wire.get(`/datasets/${datasetId}/data`);
    expect((items as unknown as { name: string }[]).map(({ name }) => name)).to.deep.equal(['Visit']);
  });
});
