import { Button, Group, PasswordInput, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { attempt, complain } from '../states.tsx';

type Provider = Answer<'/api/v1/integrations/status', 'get'>['integrations'][number];

export const TITLES: Readonly<Record<string, string>> = {
  folder: 'Folder of the server',
  github: 'GitHub',
  gmail: 'Gmail',
  google_calendar: 'Google Calendar',
  google_drive: 'Google Drive',
  imap: 'Mailbox (IMAP)',
  linear: 'Linear',
  notion: 'Notion',
  s3: 'S3 bucket',
  slack: 'Slack',
  slack_member: 'Your account of Slack',
  web: 'Web site or feed',
  webdav: 'WebDAV, Nextcloud',
};

/** Providers that are connected with an address or a secret; the others over their own page. */
const ADDRESSES: Readonly<
  Record<
    string,
    { readonly label: string; readonly placeholder: string; readonly login?: true; readonly isSecret?: true }
  >
> = {
  folder: { label: 'Path on the server', placeholder: '/srv/notes' },
  imap: { label: 'Mail server', placeholder: 'imap.example.com', login: true },
  notion: { label: 'Secret of an internal integration', placeholder: 'ntn_…', isSecret: true },
  s3: { label: 'Bucket, or a folder of it', placeholder: 's3://bucket/notes' },
  web: { label: 'Address of a site, sitemap or feed', placeholder: 'https://example.com/docs/' },
  webdav: {
    label: 'Address of a folder',
    placeholder: 'https://cloud.example.com/remote.php/dav/files/anna/',
    login: true,
  },
};

export const titleOf = (provider: string): string => TITLES[provider] ?? provider;

export function Connect({ providers, onConnected }: { readonly providers: readonly Provider[]; onConnected(): void }) {
  const [provider, setProvider] = useState<string>(() => {
    // The address that `engram integrations connect` gives names one.
    const named = new URLSearchParams(window.location.search).get('connect');
    const first =
      providers.find((one) => one.provider === named) ??
      providers.find((one) => one.provider === 'folder' && one.configured);
    return first?.provider ?? 'web';
  });
  const [address, setAddress] = useState('');
  const [userName, setUserName] = useState('');
  const [password, setPassword] = useState('');
  const [isSending, setSending] = useState(false);
  const asked = ADDRESSES[provider];
  const signsIn = providers.some((one) => one.provider === provider && one.oauth);
  const isEmpty = address.trim() === '';
  const connect = async () => {
    setSending(true);
    const path = { provider };
    if (asked === undefined || (signsIn && isEmpty)) {
      // A provider without settings answers what its operator has to set.
      await engram
        .post('/api/v1/integrations/{provider}/authorize', { path })
        .then(({ authorizeUrl }) => window.location.assign(authorizeUrl), complain);
    } else {
      const body = { address, ...(asked.login === true && userName !== '' ? { userName, password } : {}) };
      const send = () => engram.post('/api/v1/integrations/{provider}/connect', { path, body });
      if (await attempt(send, 'It is connected, and is being brought in.')) {
        setAddress('');
        setPassword('');
        onConnected();
      }
    }
    setSending(false);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void connect();
      }}
    >
      <Group align="flex-end" gap="xs" mb="md">
        <Select
          label="Source"
          data={providers.map(({ provider: value, configured }) => ({
            value,
            label: configured ? titleOf(value) : `${titleOf(value)} – not configured`,
          }))}
          value={provider}
          onChange={(value) => {
            setProvider(value ?? provider);
            setAddress('');
          }}
          allowDeselect={false}
          miw={250}
        />
        {asked === undefined ? null : (
          <TextInput
            label={asked.label}
            placeholder={`${asked.placeholder}${signsIn ? `, or empty to sign in at ${titleOf(provider)}` : ''}`}
            value={address}
            type={asked.isSecret ? 'password' : 'text'}
            autoComplete="off"
            onChange={({ currentTarget }) => setAddress(currentTarget.value)}
            miw={320}
          />
        )}
        {asked?.login === true ? (
          <>
            <TextInput
              label="User name"
              autoComplete="off"
              value={userName}
              onChange={({ currentTarget }) => setUserName(currentTarget.value)}
            />
            <PasswordInput
              label="Password"
              placeholder="an app password, if it has them"
              autoComplete="off"
              value={password}
              onChange={({ currentTarget }) => setPassword(currentTarget.value)}
              miw={280}
            />
          </>
        ) : null}
        <Button type="submit" loading={isSending} disabled={asked !== undefined && !signsIn && isEmpty}>
          Connect
        </Button>
      </Group>
    </form>
  );
}
