// The ordinals that an embedder has covered: disjoint ranges, merged when they touch.

/** Ordinals above `after` up to `upTo`. */
export interface Range {
  readonly after: number;
  readonly upTo: number;
}

export class Coverage {
  /** Ascending, none empty, none touching the next. */
  #ranges: Range[] = [];

  /** Everything up to here is covered. */
  get cursor(): number {
    const first = this.#ranges[0];
    return first === undefined || first.after > 0 ? 0 : first.upTo;
  }

  /** The largest ordinal that is covered; 0 without any. */
  get end(): number {
    return this.#ranges.at(-1)?.upTo ?? 0;
  }

  get ranges(): readonly Range[] {
    return this.#ranges;
  }

  /** Gaps between the covered ranges, ascending: they must be embedded again. */
  get gaps(): Range[] {
    let after = 0;
    return this.#ranges.flatMap((range) => {
      const gap = { after, upTo: range.after };
      after = range.upTo;
      return gap.after < gap.upTo ? [gap] : [];
    });
  }

  has(ordinal: number): boolean {
    return this.#ranges.some(({ after, upTo }) => ordinal > after && ordinal <= upTo);
  }

  add({ after, upTo }: Range): void {
    if (after >= upTo) return;
    const apart = this.#ranges.filter((range) => range.upTo < after || range.after > upTo);
    const joined = this.#ranges.filter((range) => range.upTo >= after && range.after <= upTo);
    const whole = {
      after: Math.min(after, ...joined.map((range) => range.after)),
      upTo: Math.max(upTo, ...joined.map((range) => range.upTo)),
    };
    this.#ranges = [...apart, whole].sort((a, b) => a.after - b.after);
  }

  remove({ after, upTo }: Range): void {
    if (after >= upTo) return;
    this.#ranges = this.#ranges.flatMap((range) =>
      [
        { after: range.after, upTo: Math.min(range.upTo, after) },
        { after: Math.max(range.after, upTo), upTo: range.upTo },
      ].filter((left) => left.after < left.upTo),
    );
  }
}
