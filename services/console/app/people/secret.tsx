import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '../icons.ts';

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  onClose(): void;
}

/** A key or a password in the only moment in which it can be seen. */
export function Secret({ title, secret, onClose }: SecretProps) {
  return (
    <Alert
      title={title}
      color="yellow"
      variant="outline"
      withCloseButton
      closeButtonLabel="Hide it"
      onClose={onClose}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
    >
      <Stack gap="xs">
        <Text size="sm">Copy it now: it is stored as a hash only and cannot be shown again.</Text>
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }} aria-label="The new secret">
            {secret}
          </Code>
          <CopyButton value={secret}>
            {({ copied, copy }) => (
              <Button
                size="compact-sm"
                variant="default"
                onClick={copy}
                leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              >
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Stack>
    </Alert>
  );
}
