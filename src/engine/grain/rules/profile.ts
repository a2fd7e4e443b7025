// Device profiles: how large and how deep a grain may be, and which fields the smallest one has.
import { assert } from '../../base/assert.ts';
import { BLOB_BYTES_CEILING, BLOB_BYTES_MAX, GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import type { ValueMap } from '../value.ts';
import { CHECKS, note } from './findings.ts';

export type ProfileName = 'extended' | 'standard' | 'lightweight';

export interface Profile {
  readonly blobBytesMax: number;
  readonly depthMax: number;
  /** The only fields that the profile allows; undefined when it allows all. */
  readonly fields?: ReadonlySet<string> | undefined;
}

const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  extended: { blobBytesMax: BLOB_BYTES_MAX, depthMax: GRAIN_DEPTH_MAX },
  standard: { blobBytesMax: 32_768, depthMax: 16 },
  lightweight: {
    blobBytesMax: 512,
    depthMax: 8,
    fields: new Set(['type', 'subject', 'relation', 'object', 'confidence', 'created_at', 'namespace']),
  },
};

export interface ProfileOptions {
  /** Default: extended. */
  readonly profile?: ProfileName | undefined;
  /** Raises (or lowers) the profile's own limit, up to BLOB_BYTES_CEILING. */
  readonly blobBytesMax?: number | undefined;
}

/** The limits that hold under these options. */
export function profileOf(options: ProfileOptions): Profile {
  const profile = PROFILES[options.profile ?? 'extended'];
  if (options.blobBytesMax === undefined) return profile;
  assert(options.blobBytesMax <= BLOB_BYTES_CEILING, 'the blob limit stays under its ceiling');
  return { ...profile, blobBytesMax: options.blobBytesMax };
}

/** Notes a field that the profile does not have. */
export function checkProfile(profile: Profile, fields: ValueMap): void {
  if (!profile.fields) return;
  for (const name of Object.keys(fields))
    if (!profile.fields.has(name) && fields[name] !== null && fields[name] !== undefined)
      note(CHECKS.schema, 'a field', 'is not part of the profile');
}
