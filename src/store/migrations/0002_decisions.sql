CREATE TABLE `decision_aliases` (
	`alias` text PRIMARY KEY NOT NULL,
	`version` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `decision_sightings` (
	`version` text NOT NULL,
	`provider` text NOT NULL,
	`upstream_model` text NOT NULL,
	`fingerprint` text NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`version`, `provider`, `upstream_model`, `fingerprint`)
);
--> statement-breakpoint
CREATE TABLE `decision_versions` (
	`id` text PRIMARY KEY NOT NULL,
	`origin` text NOT NULL,
	`hash` text NOT NULL,
	`record` text NOT NULL,
	`metrics` text,
	`created_at` integer NOT NULL
);
