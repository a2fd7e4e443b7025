// Modules that the bundler makes of other files.
declare module '*.css';
