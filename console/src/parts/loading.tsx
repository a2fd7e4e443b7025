// Says that an answer is awaited. It appears only after a moment, so that quick answers do not flicker.
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what}…
    </p>
  );
}
