import { expect } from 'chai';
import { rejection } from '../../../../test/support/refusal-of.ts';
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from '../../../../test/support/smtp-server.ts';
import type { MailServer } from '../../domain/mail-server.ts';
import { MailRefusedError } from '../../ports/mailer.ts';
import { createSmtpMailer } from './smtp-mailer.ts';

const LOGIN = { user: 'engram', password: 'a password' };
const MAIL = { to: 'ada@example.com', subject: 'Größe', text: 'One\n.\nand a line of dots\n..\nGrüße\n' };

describe('mails by SMTP', () => {
  let server: SmtpServer;
  afterEach(() => server[Symbol.asyncDispose]());

  const start = async (options: SmtpServerOptions = {}) => {
    server = await startSmtpServer(options);
  };
  const send = (settings: Partial<MailServer> = {}, mail = MAIL, signal = new AbortController().signal) =>
    createSmtpMailer({
      host: '127.0.0.1',
      port: server.port,
      login: null,
      tls: 'none',
      from: 'Engram <engram@example.com>',
      certificateAuthority: null,
      timeoutMs: 10_000,
      ...settings,
    }).send(mail, signal);

  it('reach the server as they are, with the configured sender', async () => {
    await start();
    await send();
    const [mail] = server.mails;
    expect(mail).to.deep.include({ from: 'engram@example.com', to: ['ada@example.com'], encrypted: false, user: null });
    const [header = '', body = ''] = (mail?.data ?? '').split(/\n\n(.*)/s);
    expect(header)
      .to.match(/^To: ada@example\.com$/m)
      .and.match(/^From: Engram <engram@example\.com>$/m);
    expect(header).to.include('Subject: =?UTF-8?');
    const encoding = /^Content-Transfer-Encoding: (\S+)$/m.exec(header)?.[1];
    const text = encoding === 'base64' ? Buffer.from(body, 'base64').toString() : quotedPrintable(body);
    expect(text.trim()).to.equal(MAIL.text.trim());
  });

  it('go to one address, whatever stands in it', async () => {
    await start();
    await send({}, { ...MAIL, to: 'ada,eve@example.com' });
    await send({}, { ...MAIL, to: 'a+b=c@example.com', subject: 'One\r\nBcc: eve@example.com' });
    expect(server.mails.map(({ to }) => to.length)).to.deep.equal([1, 1]);
    expect(server.mails[1]?.data).not.to.match(/^Bcc:/m);
  });

  it('log in, over an upgraded connection and over one that is encrypted from the start', async () => {
    for (const tls of ['starttls', 'tls'] as const) {
      await start({ tls, login: LOGIN });
      const certificateAuthority = server.certificate.cert;
      await send({ tls, login: LOGIN, certificateAuthority, host: 'localhost' });
      expect(server.mails).to.have.length(1);
      expect(server.mails[0], tls).to.include({ encrypted: true, user: 'engram' });
      await server[Symbol.asyncDispose]();
    }
  });

  it('are not sent where encryption is demanded and not offered, or offered by a stranger', async () => {
    await start({ tls: 'none', login: LOGIN });
    expect(await rejection(send({ tls: 'starttls', login: LOGIN }))).to.include({ status: 503 });
    await server[Symbol.asyncDispose]();
    await start({ tls: 'starttls', login: LOGIN });
    expect((await rejection(send({ tls: 'starttls', login: LOGIN }))).message).to.not.include(LOGIN.password);
    expect(server.mails).to.deep.equal([]);
    expect(server.commands).not.to.include('AUTH');
  });

  it('tell a refusal for good from one for now, without what the mail says', async () => {
    await start({ answer: (command) => (command === 'RCPT' ? '550 no such <ada@example.com>' : undefined) });
    const forGood = await rejection(send());
    expect(forGood).to.be.instanceOf(MailRefusedError);
    expect(forGood.message).to.include('550').and.not.include('ada@');
    await server[Symbol.asyncDispose]();
    await start({ answer: (command) => (command === '.' ? '451 later: One' : undefined) });
    const forNow = await rejection(send());
    expect(forNow).to.include({ status: 503, retryable: true });
    expect(forNow.message).to.include('451').and.not.include('later');
    await server[Symbol.asyncDispose]();
    await start({ tls: 'none', login: { ...LOGIN, password: 'another' } });
    expect(await rejection(send({ login: LOGIN }))).to.be.instanceOf(MailRefusedError);
  });

  it('are given up when the server hangs, says nothing or is not there', async () => {
    await start({ answer: (command) => (command === 'DATA' ? null : undefined) });
    const started = Date.now();
    expect(await rejection(send({ timeoutMs: 200 }))).to.include({ status: 503 });
    await server[Symbol.asyncDispose]();
    await start({ answer: () => null });
    expect(await rejection(send({ timeoutMs: 200 }))).to.include({ status: 503 });
    expect(Date.now() - started).to.be.lessThan(10_000);
    const { port } = server;
    await server[Symbol.asyncDispose]();
    expect(await rejection(send({ port }))).to.include({ status: 503 });
  });

  it('are given up when the service stops', async () => {
    await start({ answer: () => null });
    const abort = new AbortController();
    const sending = rejection(send({ timeoutMs: 60_000 }, MAIL, abort.signal));
    setTimeout(() => abort.abort(), 50);
    const started = Date.now();
    expect(await sending).to.include({ status: 503 });
    expect(Date.now() - started).to.be.lessThan(10_000);
  });
});

function quotedPrintable(text: string): string {
  const bytes = text
    .replaceAll('=\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
