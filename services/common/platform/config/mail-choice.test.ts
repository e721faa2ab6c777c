import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { problemsOf } from '../../../../test/support/config-problems.ts';
import { loadConfig } from './load-config.ts';

const SERVER = { ENGRAM_SMTP_HOST: 'mail.example.com', ENGRAM_MAIL_FROM: 'Engram <engram@example.com>' };
const LOGIN = { ENGRAM_SMTP_USER: 'engram', ENGRAM_SMTP_PASSWORD: 'not to be shown' };

const serverOf = (variables: Readonly<Record<string, string>>) => loadConfig(variables).config.mailServer;

describe('mail server', () => {
  it('is none unless its host is set', () => {
    expect(serverOf({})).to.equal(null);
  });

  it('has the port of its encryption, unless one is set', () => {
    expect(serverOf(SERVER)).to.deep.equal({
      host: 'mail.example.com',
      port: 587,
      tls: 'starttls',
      login: null,
      certificateAuthority: null,
      from: 'Engram <engram@example.com>',
      timeoutMs: 10_000,
    });
    expect(serverOf({ ...SERVER, ENGRAM_SMTP_TLS: 'tls' })?.port).to.equal(465);
    expect(serverOf({ ...SERVER, ENGRAM_SMTP_TLS: 'none' })?.port).to.equal(25);
    expect(serverOf({ ...SERVER, ENGRAM_SMTP_PORT: '2525', ENGRAM_SMTP_TIMEOUT: '0.5' })).to.include({
      port: 2525,
      timeoutMs: 500,
    });
  });

  it('is refused with what is missing or contradicts itself, all at once', () => {
    expect(problemsOf({ ENGRAM_SMTP_HOST: 'mail.example.com', ENGRAM_SMTP_USER: 'engram' })).to.deep.equal([
      'ENGRAM_MAIL_FROM: must be set, because ENGRAM_SMTP_HOST is: mails need a sender.',
      'ENGRAM_SMTP_USER, ENGRAM_SMTP_PASSWORD: set both or none.',
    ]);
    const [clear = ''] = problemsOf({ ...SERVER, ...LOGIN, ENGRAM_SMTP_TLS: 'none' });
    expect(clear).to.include('ENGRAM_SMTP_TLS').and.not.include(LOGIN.ENGRAM_SMTP_PASSWORD);
    expect(problemsOf(LOGIN).map((problem) => problem.split(':')[0])).to.deep.equal(Object.keys(LOGIN));
    expect(problemsOf({ ...SERVER, ENGRAM_SMTP_CA_FILE: '/nowhere/ca.pem' })[0]).to.include('(ENOENT)');
    for (const from of ['nobody', 'a@b\nBcc: c@d', 'Engram <>', 'a@b, c@d']) {
      expect(problemsOf({ ...SERVER, ENGRAM_MAIL_FROM: from })[0], from).to.match(
        /^ENGRAM_MAIL_FROM: .*must be an address/s,
      );
    }
    for (const link of ['https://app.example.com/reset', 'javascript:{token}', '{token}']) {
      expect(problemsOf({ ENGRAM_RESET_PASSWORD_LINK: link })[0], link).to.include('with {token} in it');
    }
  });

  it('may take a password in the clear on loopback only', () => {
    const local = serverOf({ ...SERVER, ...LOGIN, ENGRAM_SMTP_HOST: '127.0.0.1', ENGRAM_SMTP_TLS: 'none' });
    expect(local?.login).to.deep.equal({ user: 'engram', password: 'not to be shown' });
  });

  it('is trusted by the authority in the file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'engram-mail-'));
    try {
      const path = join(folder, 'ca.pem');
      writeFileSync(path, 'a certificate');
      expect(serverOf({ ...SERVER, ENGRAM_SMTP_CA_FILE: path })?.certificateAuthority).to.equal('a certificate');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
