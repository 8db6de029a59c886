CREATE TABLE `thread_items` (
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`thread_id` text NOT NULL,
	`seq` integer NOT NULL,
	`id` text NOT NULL,
	`bytes` integer NOT NULL,
	`state` blob NOT NULL,
	PRIMARY KEY(`account_id`, `kind`, `thread_id`, `seq`),
	FOREIGN KEY (`account_id`,`kind`,`thread_id`) REFERENCES `threads`(`account_id`,`kind`,`thread_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `thread_items_id` ON `thread_items` (`account_id`,`kind`,`thread_id`,`id`);--> statement-breakpoint
CREATE TRIGGER thread_items_stored AFTER INSERT ON thread_items BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, octet_length(NEW.id) + octet_length(NEW.state))
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER thread_items_resized AFTER UPDATE OF id, state ON thread_items BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.id) + octet_length(OLD.state)) + (octet_length(NEW.id) + octet_length(NEW.state)) WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER thread_items_removed AFTER DELETE ON thread_items BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.id) + octet_length(OLD.state)) WHERE account_id = OLD.account_id;
END;
